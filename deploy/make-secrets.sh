#!/bin/sh
# deploy/make-secrets.sh HOST: passwords (deploy/.env) and a certificate (deploy/secrets) for
# compose.yaml, once. HOST is what senders and readers call the load balancer. What is there already
# stays: put a certificate of your own in place before or after.
set -eu
umask 077
host=${1:?usage: deploy/make-secrets.sh HOST}
cd "$(dirname "$0")"

if [ ! -e .env ]; then
  {
    echo "PUBLIC_HOST=$host"
    for name in NATS_PASSWORD CLICKHOUSE_PASSWORD CLUSTER_SECRET POSTGRES_PASSWORD REDIS_PASSWORD
    do
      # Begins with a letter, and needs no quotes anywhere.
      echo "$name=w$(openssl rand -hex 24)"
    done
  } > .env
fi

if [ ! -e secrets/weir.key ]; then
  mkdir -p secrets
  openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 365 \
    -subj "/CN=$host" -addext "subjectAltName=DNS:$host,DNS:localhost" \
    -keyout secrets/weir.key -out secrets/weir.crt
  # The folder is the owner's alone; inside the containers another user reads the files.
  chmod 0644 secrets/weir.key secrets/weir.crt
fi
