# buildah build (the Containerfile starts from scratch, with busybox): a step fails
version() { buildah --version; }
setup() {
cp /bin/busybox busybox
for number in $(seq -w 1 110); do echo "migration $number" > migration-$number.sql; done
cat > Containerfile <<'EOF'
FROM scratch AS tools
COPY busybox /bin/busybox
RUN ["/bin/busybox", "sh", "-c", "/bin/busybox --install -s /bin && echo applets installed"]
WORKDIR /srv/app
COPY migration-*.sql migrations/
ENV ON_ERROR=stop
RUN for file in migrations/*.sql; do wc -c $file; sha256sum $file; done
RUN adduser -D -H app && mkdir -p /var/lib/app && chown app /var/lib/app && ls -la / /bin | head -120
RUN cd migrations && tar cvf /var/lib/app/migrations.tar *.sql && mv migration-111.sql /var/lib/app/latest.sql
USER app
CMD ["/bin/busybox", "httpd", "-f"]
EOF
}
run() { buildah --root "$HOME/storage" --runroot "$HOME/runroot" --storage-driver vfs build --isolation chroot -t example.org/app:4.2 .; }
