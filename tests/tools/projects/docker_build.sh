# docker build with BuildKit, plain progress: two stages at once, hundreds of lines of a step that is well, one step fails
# It needs a daemon; DOCKER_HOST says where, and RUN has the network of the host.
version() { /usr/bin/docker --version; }
setup() {
cp /bin/busybox busybox
for number in $(seq -w 1 120); do echo "migration $number" > migration-$number.sql; done
cat > Dockerfile <<'END'
FROM scratch AS tools
COPY busybox /bin/busybox
RUN ["/bin/busybox", "sh", "-c", "/bin/busybox --install -s /bin && echo applets installed"]

FROM tools AS assets
WORKDIR /assets
RUN for n in $(seq 1 150); do echo "compressing asset-$n.css: $((n * 37 % 91)) kB, 0 errors"; done

FROM tools
WORKDIR /srv/app
COPY migration-*.sql migrations/
COPY --from=assets /assets assets/
ENV ON_ERROR=stop
RUN for file in migrations/*.sql; do sha256sum $file; done
RUN cd migrations && tar cf /tmp/all.tar *.sql && cp migration-121.sql /srv/app/latest.sql
CMD ["/bin/busybox", "httpd", "-f"]
END
}
run() { DOCKER_BUILDKIT=1 /usr/bin/docker build --network=host --no-cache --progress=plain -t example.org/app:4.2 .; echo "exit status $?"; }
