"""What a model would see of an output's bytes, and where its lines are.

`document` is an output open for random access, `clean` shows bytes as a person would see them, `progress` folds the
frames of progress bars, `forgery` marks text that imitates our notices. Neighbours import what they name.
"""
