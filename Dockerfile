# One image with one file in it: the server with its site inside.
#   docker build -t chatwright .
#   docker run -p 3000:3000 -v chatwright:/data -v ./chatwright.yaml:/etc/chatwright/chatwright.yaml:ro chatwright
# Folders that the config refers to (`basePath`, `_ref`) are mounted beside it: -v ./handbook:/etc/chatwright/handbook:ro

FROM node:20-bookworm-slim AS node

FROM rust:1-bookworm AS build
WORKDIR /source
# Node runs wasm-opt, which makes the browser's half smaller.
COPY --from=node /usr/local/bin/node /usr/local/bin/node
COPY --from=node /usr/local/lib/node_modules /usr/local/lib/node_modules
RUN ln -s ../lib/node_modules/npm/bin/npm-cli.js /usr/local/bin/npm
# The toolchain that the repository names, once for all later builds.
COPY rust-toolchain.toml ./
RUN cargo --version
COPY . .
# Both halves; the caches stay on the machine that builds.
RUN --mount=type=cache,target=/usr/local/cargo/registry \
    --mount=type=cache,target=/source/target \
    cargo xtask build --release && cp target/release/chatwright /chatwright

FROM debian:bookworm-slim
RUN apt-get update \
    && apt-get install -y --no-install-recommends ca-certificates \
    && rm -rf /var/lib/apt/lists/* \
    && groupadd --system --gid 10001 chatwright \
    && useradd --system --uid 10001 --gid chatwright --home-dir /data --shell /usr/sbin/nologin chatwright \
    && install --directory --owner=chatwright --group=chatwright --mode=0700 /data
COPY --from=build /chatwright /usr/local/bin/chatwright
COPY deploy/chatwright.yaml /etc/chatwright/chatwright.yaml
USER 10001:10001
WORKDIR /data
VOLUME /data
ENV CHATWRIGHT_CONFIG=/etc/chatwright/chatwright.yaml \
    CHATWRIGHT_ADDR=0.0.0.0:3000 \
    CHATWRIGHT_LOG_FORMAT=json \
    DATABASE_URL=sqlite:///data/chatwright.db
EXPOSE 3000
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=15s --timeout=6s --start-period=10s --retries=3 CMD ["chatwright", "probe"]
ENTRYPOINT ["chatwright"]
CMD ["serve"]
