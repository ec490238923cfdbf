#!/bin/sh
# deploy/make-secrets.sh HOST: creates passwords (deploy/.env) and a certificate (deploy/secrets) for
# compose.yaml. HOST is the host name of the load balancer for senders and readers. Existing files
# are not overwritten; replace the certificate with your own at any time.
set -eu
umask 077
host=${1:?usage: deploy/make-secrets.sh HOST}
cd "$(dirname "$0")"

if [ ! -e .env ]; then
  {
    echo "PUBLIC_HOST=$host"
    for name in NATS_PASSWORD CLICKHOUSE_PASSWORD CLUSTER_SECRET POSTGRES_PASSWORD REDIS_PASSWORD
    do
      # Begins with a letter and needs no quoting.
      echo "$name=w$(openssl rand -hex 24)"
    done
  } > .env
fi

if [ ! -e secrets/weir.key ]; then
  mkdir -p secrets
  openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 365 \
    -subj "/CN=$host" -addext "subjectAltName=DNS:$host,DNS:localhost" \
    -keyout secrets/weir.key -out secrets/weir.crt
  # The containers read the files as another user; the folder is accessible only to its owner.
  chmod 0644 secrets/weir.key secrets/weir.crt
fi
