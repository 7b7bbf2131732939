package sweep

import (
	"path"
	"strings"
)

// A module is a package of a public module, whose tests or benchmarks are recorded.
type module struct {
	name    string // of its trace
	kind    string
	version string // MODULE@VERSION
	pkg     string // below the module's root; "" for the root
	run     string // tests to run, a regular expression; "" for none
	skip    string // tests left out: of the network, or of the paths of source files, which -trimpath changes
	bench   string // benchmarks to run; "" for none
	small   bool   // a small trace of it lies in testdata; of the first three, the beginning of one on which analyze once did not end or failed
}

// modules are recorded with -cpu 2,4, in this order.
var modules = []module{
	{name: "bigcache", small: true, kind: "cache", version: "github.com/allegro/bigcache/v3@v3.1.0", bench: "WriteToCacheWith1Shard|ReadFromCache$|IterateOverCache"},
	{name: "xsync", small: true, kind: "concurrent map", version: "github.com/puzpuzpuz/xsync/v4@v4.5.0", bench: "."},
	{name: "ratelimit", small: true, kind: "rate limit", version: "go.uber.org/ratelimit@v0.3.1", bench: "."},
	{name: "ristretto", kind: "cache", version: "github.com/dgraph-io/ristretto/v2@v2.4.2", run: ".", bench: "."},
	{name: "golang-lru", kind: "cache", version: "github.com/hashicorp/golang-lru/v2@v2.0.7", run: ".", bench: "."},
	{name: "go-cache", kind: "cache", version: "github.com/patrickmn/go-cache@v2.1.0+incompatible", run: ".", bench: "."},
	{name: "freecache", kind: "cache", version: "github.com/coocood/freecache@v1.2.7", run: ".", bench: "."},
	{name: "otter", kind: "cache", version: "github.com/maypok86/otter/v2@v2.4.0", run: "."},
	{name: "fastcache", kind: "cache", version: "github.com/VictoriaMetrics/fastcache@v1.13.2", run: ".", bench: "."},
	{name: "ants", kind: "pool", version: "github.com/panjf2000/ants/v2@v2.12.1", run: "."},
	{name: "pond", kind: "pool", version: "github.com/alitto/pond/v2@v2.7.1", run: "."},
	{name: "conc", kind: "pool", version: "github.com/sourcegraph/conc@v0.3.0", pkg: "pool", run: ".", bench: "."},
	{name: "puddle", small: true, kind: "pool", version: "github.com/jackc/puddle/v2@v2.2.3", run: ".", bench: "."},
	{name: "semaphore", small: true, kind: "pool", version: "golang.org/x/sync@v0.25.0", pkg: "semaphore", run: ".", bench: "."},
	{name: "zap", small: true, kind: "logger", version: "go.uber.org/zap@v1.28.0", run: ".", bench: "."},
	{name: "zerolog", kind: "logger", version: "github.com/rs/zerolog@v1.35.1", bench: ".", run: "."},
	{name: "logrus", kind: "logger", version: "github.com/sirupsen/logrus@v1.10.2", skip: "TestNestedLoggingReportsCorrectCaller", bench: ".", run: "."},
	{name: "bbolt", small: true, kind: "database", version: "go.etcd.io/bbolt@v1.5.0", run: "TestDB_Batch|TestDB_Concurrent_WriteTo|TestManyDBs|TestOpen_MultipleGoroutines"},
	{name: "goleveldb", small: true, kind: "database", version: "github.com/syndtr/goleveldb@v1.0.0", pkg: "leveldb", run: "TestDB_Concurrent|TestDB_Compaction|TestDB_GoleveldbIssue", bench: "."},
	{name: "buntdb", kind: "database", version: "github.com/tidwall/buntdb@v1.3.0", run: ".", bench: "."},
	{name: "go-memdb", small: true, kind: "database", version: "github.com/hashicorp/go-memdb@v1.3.5", run: ".", bench: "."},
	{name: "watermill", small: true, kind: "broker", version: "github.com/ThreeDotsLabs/watermill@v1.5.1", pkg: "pubsub/gochannel", run: ".", bench: "."},
	{name: "fasthttp", small: true, kind: "HTTP", version: "github.com/valyala/fasthttp@v1.78.0", bench: "."},
	{name: "echo", kind: "HTTP", version: "github.com/labstack/echo/v4@v4.16.0", run: ".", bench: "."},
	{name: "chi", kind: "HTTP", version: "github.com/go-chi/chi/v5@v5.5.0", pkg: "middleware", run: ".", bench: "."},
	{name: "gorilla", small: true, kind: "WebSocket", version: "github.com/gorilla/websocket@v1.5.3", run: ".", bench: "."},
	{name: "coder", kind: "WebSocket", version: "github.com/coder/websocket@v1.8.15", run: ".", bench: "."},
	{name: "zstd", kind: "compression", version: "github.com/klauspost/compress@v1.20.3", pkg: "zstd", bench: "Decoder_DecodeAllParallel|Encoder_EncodeAll"},
	{name: "s2", kind: "compression", version: "github.com/klauspost/compress@v1.20.3", pkg: "s2", bench: "WriterS2|ReaderS2|Parallel"},
	{name: "lz4", kind: "compression", version: "github.com/pierrec/lz4/v4@v4.1.33", run: "TestWriter|TestReader|TestConcurrent", bench: "."},
	{name: "rate", kind: "rate limit", version: "golang.org/x/time@v0.16.0", pkg: "rate", run: ".", bench: "."},
	{name: "cron", kind: "job scheduler", version: "github.com/robfig/cron/v3@v3.0.1", run: "."},
	{name: "raft", kind: "consensus", version: "github.com/hashicorp/raft@v1.8.0", run: "TestRaft_(SingleNode|TripleNode|ApplyConcurrent|JoinNode|AutoSnapshot|SnapshotRestore)$"},
	{name: "memberlist", kind: "gossip", version: "github.com/hashicorp/memberlist@v0.7.0", run: "TestMemberlist_Join|TestMemberlist_Leave|TestMemberlist_Send|TestTransmit|TestSuspicion", bench: "."},
	{name: "yamux", kind: "multiplexer", version: "github.com/hashicorp/yamux@v0.1.2", run: ".", bench: "."},
	{name: "smux", kind: "multiplexer", version: "github.com/xtaci/smux@v1.5.58", run: ".", bench: "."},
	{name: "gobreaker", kind: "resilience", version: "github.com/sony/gobreaker/v2@v2.4.0", run: ".", bench: "."},
	{name: "badger", kind: "database", version: "github.com/dgraph-io/badger/v4@v4.9.6", run: "TestConcurrentWrite|TestTxn|TestStream|TestWriteBatch"},
	{name: "pebble", kind: "database", version: "github.com/cockroachdb/pebble@v1.1.5", run: "TestCommitPipeline|TestFlush|TestCompaction|TestIterator", bench: "CommitPipeline"},
	{name: "nats-server", kind: "broker", version: "github.com/nats-io/nats-server/v2@v2.15.2", pkg: "server", run: "^TestClient|^TestSublist|^TestAccountSimple"},
	{name: "mochi-mqtt", kind: "broker", version: "github.com/mochi-mqtt/server/v2@v2.7.9", run: ".", bench: "."},
	{name: "gin", kind: "HTTP", version: "github.com/gin-gonic/gin@v1.12.0", run: ".", bench: "."},
	{name: "http2", kind: "HTTP", version: "golang.org/x/net@v0.62.0", pkg: "http2", run: "TestServer|TestTransport"},
	{name: "grpc", kind: "gRPC", version: "google.golang.org/grpc@v1.85.0", pkg: "internal/transport", run: "."},
	{name: "connect", kind: "gRPC", version: "connectrpc.com/connect@v1.21.1", run: ".", bench: "."},
	{name: "quic-go", kind: "QUIC", version: "github.com/quic-go/quic-go@v0.65.0", run: "TestConnection|TestSend|TestReceive|TestStream|TestFramer"},
	{name: "gocron", kind: "job scheduler", version: "github.com/go-co-op/gocron/v2@v2.21.2", run: "TestJob|TestScheduler_Limit|TestScheduler_Stop|TestScheduler_Run"},
	{name: "prometheus", kind: "metrics", version: "github.com/prometheus/client_golang@v1.25.0", pkg: "prometheus", run: ".", bench: "."},
	{name: "miniredis", kind: "in-memory server", version: "github.com/alicebob/miniredis/v2@v2.40.0", run: ".", bench: "."},
	{name: "gnet", kind: "event loop", version: "github.com/panjf2000/gnet/v2@v2.9.7", run: "."},
}

func (m module) what() string {
	what := path.Join(m.version, m.pkg)
	if m.run != "" {
		what += " -run " + m.run
	}
	if m.bench != "" {
		what += " -bench " + m.bench
	}
	return what
}

// servers are the subcommands of the program in the folder servers.
var servers = []server{
	{"nethttp", "HTTP"}, {"gin", "HTTP"}, {"echo", "HTTP"}, {"chi", "HTTP"}, {"fasthttp", "HTTP"}, {"http2", "HTTP"}, {"http3", "QUIC"},
	{"websocket", "WebSocket"}, {"grpc", "gRPC"}, {"nats", "broker"}, {"mqtt", "broker"}, {"redis", "in-memory server"},
	{"dns", "DNS"}, {"bbolt", "database"}, {"yamux", "multiplexer"},
}

type server struct{ name, kind string }

func (s server) what() string { return "lab/sweep/servers " + s.name }

// A tool is a command-line tool at work on the source of a module, its own unless on names another.
type tool struct {
	name    string
	kind    string
	version string // MODULE@VERSION
	pkg     string
	on      string // MODULE@VERSION
	args    []string
	exit    int // the exit code with which it reports that it found something
}

var tools = []tool{
	{name: "esbuild", kind: "bundler", version: "github.com/evanw/esbuild@v0.28.2", pkg: "cmd/esbuild",
		args: []string{"lib/npm/node.ts", "lib/npm/browser.ts", "--bundle", "--platform=node", "--packages=external", "--minify", "--sourcemap", "--outdir=out"}},
	{name: "gofumpt", kind: "formatter", version: "mvdan.cc/gofumpt@v0.12.0", on: "google.golang.org/grpc@v1.85.0", args: []string{"-l", "."}},
	{name: "goimports", kind: "formatter", version: "golang.org/x/tools@v0.52.0", pkg: "cmd/goimports", args: []string{"-l", "."}},
	{name: "deadcode", kind: "analyzer", version: "golang.org/x/tools@v0.52.0", pkg: "cmd/deadcode", args: []string{"./cmd/..."}},
	{name: "staticcheck", kind: "linter", version: "honnef.co/go/tools@v0.8.2", pkg: "cmd/staticcheck", args: []string{"-fail=none", "./pattern/..."}},
	{name: "revive", kind: "linter", version: "github.com/mgechev/revive@v1.17.0", args: []string{"./..."}},
	{name: "errcheck", kind: "linter", version: "github.com/kisielk/errcheck@v1.30.0", args: []string{"./..."}, exit: 1},
	{name: "minify", kind: "minifier", version: "github.com/tdewolff/minify/v2@v2.24.25", pkg: "cmd/minify", args: []string{"-r", "-o", "out/", "_benchmarks"}},
	{name: "s2c", kind: "compressor", version: "github.com/klauspost/compress@v1.20.3", pkg: "s2/cmd/s2c", args: []string{"-c", "-blocksize=64K", "zstd/*.go", "flate/*.go", "s2/*.s"}},
	{name: "compile", kind: "compiler"}, // the Go compiler, which records itself
}

func (t tool) what() string {
	if t.version == "" {
		return "go build cmd/compile/internal/ssa"
	}
	return path.Join(t.version, t.pkg) + " " + strings.Join(t.args, " ")
}
