#!/bin/sh
# Replaces the proxies by what is here now, one after another, and nobody notices: the schema first; then each is taken
# out of nginx, stopped once its running answers have ended (within server.drain), and taken in again when it is well.
set -eu
cd "$(dirname "$0")"

docker compose build
docker compose run --rm migrate

reload() {
  docker compose exec nginx nginx -c /etc/nginx/cluster/nginx.conf -s reload
}
all_in() {
  sed -i 's/resolve down/resolve/' nginx/nginx.conf
  reload
}
trap all_in EXIT

for each in $(sed -n 's/.*server \(olvido-[0-9]*\):8484 resolve.*/\1/p' nginx/nginx.conf); do
  sed -i "s/server $each:8484 resolve/& down/" nginx/nginx.conf
  reload
  sleep 2                            # until workers of before have asked it the last time
  docker compose up --detach --no-deps --wait "$each"
  all_in
done
