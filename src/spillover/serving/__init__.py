"""What `spill ui` needs to serve its page over HTTP.

door       who may come in, and how much of each
sockets    the connections of clients, bounded (needs uvicorn)
server     a uvicorn server that ends at a signal, with everything closed
"""
