# make test is all a newcomer, or CI, needs: it sets itself up.
.PHONY: test check race bench bench-delivery bench-backlog bench-cluster sim kill build build-openssl dev setup update fuzz release faults cluster-test container-test pictures bench-broadcast broadcast-kill lighthouse bench-size first-email

SEEDS ?= 60

# Half an hour a package: on a busy machine the tests in the browser take ten minutes.
test: setup check
	go test -timeout 30m ./...
	@if [ -e /usr/include/openssl/evp.h ]; then CGO_ENABLED=1 go test -tags openssl ./mail/dkim; else echo "skipped: signatures by OpenSSL (no headers)"; fi
	go test ./sim -args -seeds $(SEEDS)
	FUZZTIME=3s SHARE=8 scripts/fuzz mail/
	$(MAKE) race

# What can be said about the code without running it.
check:
	@unformatted=$$(gofmt -l $$(git ls-files '*.go')); if [ -n "$$unformatted" ]; then echo "not formatted (gofmt -w):"; echo "$$unformatted"; exit 1; fi
	go vet ./...
	go tool -modfile=tools/go.mod staticcheck ./...

# The packages in which goroutines meet.
race:
	go test -race -timeout 30m ./world/... ./platform/db/... ./platform/queue/... ./platform/api/... ./mail/smtp/... ./product/delivery/... ./product/webhook/... ./sandbox/...
	go test -race ./sim -args -seeds 4

# What the tests use besides Go, if it may be installed; without it they say what they skipped.
setup:
	@scripts/setup

bench:
	go run ./bench/accept
	go run ./bench/submission
	go run ./bench/inbound
	go test ./bench/lookup -bench . -run '^$$' -benchtime 200x

# Delivery beside Postfix with OpenDKIM; needs root, postfix and opendkim.
bench-delivery:
	go run ./bench/delivery
	CGO_ENABLED=1 go run -tags openssl ./bench/delivery -tags openssl

# A million messages in the queue to a hundred thousand domains.
bench-backlog:
	go run ./bench/backlog

# One, two and three nodes on one PostgreSQL, and a message's cost against the backlog; -million for the largest one.
bench-cluster:
	go run ./bench/cluster

# A broadcast to a million people: how fast they are written down, the memory, and mail that goes out beside single messages.
bench-broadcast:
	go run ./bench/broadcast -people 1000000 -deliver 100000

# Room on the disk by message, and accepting beside retention of a million rows.
bench-size:
	go run ./bench/disk
	go run ./bench/retention

# The simulator at length.
sim:
	go test ./sim -timeout 180m -args -seeds 1000 -beats 1

# kill -9, two hundred times under load on each database: what was answered against what arrived.
kill:
	go test ./test -run KilledAgainAndAgainUnderLoad -v -timeout 60m -args -kills 200

# kill -9, twenty times during a broadcast to 100,000 people on each database: everybody has it once. Then one that is cancelled half-way.
broadcast-kill:
	go test ./test -run 'KilledAgainAndAgainABroadcast|BroadcastThatIsCancelled|CancelThatWasAnswered' -v -count=1 -parallel 1 -timeout 90m -args -broadcast-kills 20 -broadcast-people 100000

# What goes wrong on one machine, a row each: processes, disks, databases, networks, clocks and data. QUEUED=1000000 fills the queue.
faults: setup
	go test ./test -run TestFaults -v -count=1 -timeout 300m -args -faults -queued $(or $(QUEUED),10000)

# Every page of the dashboard, checked in all its views and kept as a picture under docs/pictures.
pictures: setup
	go test ./test/dashboard -count=1 -pictures -timeout 30m

# What Lighthouse says of the main pages, on large screens and on phones; fails below 95.
lighthouse: setup
	go test ./test/dashboard -run Lighthouse -count=1 -v -lighthouse -timeout 30m

# Three nodes and a PostgreSQL, in network namespaces if they may be made.
cluster-test: setup
	@scripts/cluster-test

# The image of deploy/Containerfile, built without a daemon and run without root, rights or anything to write to but /data.
container-test:
	@scripts/container-test

build:
	CGO_ENABLED=0 go build -trimpath -o bin/postrider ./cmd/postrider

# The same with signatures by OpenSSL, a third of their cost; needs a C compiler and OpenSSL's headers.
build-openssl:
	CGO_ENABLED=1 go build -tags openssl -trimpath -o bin/postrider ./cmd/postrider

dev:
	go run ./cmd/postrider dev

# Rewrites the golden files; look at the difference before you commit it.
update:
	go test ./mail/message ./app -update
	go test ./client/internal/generate -update
	go test ./test -run 'TableOfCompatibility|LicencesOfAll' -update

# Every parser against inputs that nobody thought of, each for FUZZTIME.
fuzz:
	@FUZZTIME=$(or $(FUZZTIME),20s) scripts/fuzz

# The program as it is released: built twice to the same bytes, with its checksum, size and start-up time.
release:
	@scripts/release bin/postrider

# From a clean clone to the first delivered email, as a newcomer meets it.
first-email:
	@scripts/first-email
