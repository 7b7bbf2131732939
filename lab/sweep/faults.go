package sweep

// A mechanism is a way in which a program is slow.
type mechanism struct {
	imports string
	add     string   // goes into a function; $D stands for how long, how many or how large
	end     string   // goes to the end of the file
	names   []string // functions of end
}

var mechanisms = map[string]mechanism{
	"lock-sleep": {imports: "sync time", add: "journal.Lock(); time.Sleep($D); journal.Unlock()", end: "var journal sync.Mutex"},
	"lock-cpu":   {imports: "sync time", add: "ledger.Lock(); for began := time.Now(); time.Since(began) < $D; {}; ledger.Unlock()", end: "var ledger sync.Mutex"},
	"cpu-loop":   {imports: "time", add: "for began := time.Now(); time.Since(began) < $D; {}"},
	"sleep":      {imports: "time", add: "for i := 0; i < 2; i++ { time.Sleep($D) }"},
	"hand-over": {
		imports: "time", add: "audit <- struct{}{}", names: []string{"auditAll"},
		end: "var audit = make(chan struct{}); func init() { go auditAll() }; func auditAll() { for range audit { time.Sleep($D) } }",
	},
	"storm":     {imports: "sync/atomic", add: "for i := 0; i < $D; i++ { go keepBooks() }", end: "var books atomic.Int64; func keepBooks() { books.Add(1) }", names: []string{"keepBooks"}},
	"garbage":   {add: "for i := range recent { recent[i] = make([]byte, $D) }", end: "var recent [1000][]byte"},
	"collect":   {imports: "runtime", add: "for i := 0; i < $D; i++ { runtime.GC() }"},
	"spin":      {imports: "runtime sync/atomic time", add: "for !gate.CompareAndSwap(false, true) { runtime.Gosched() }; time.Sleep($D); gate.Store(false)", end: "var gate atomic.Bool"},
	"semaphore": {imports: "time", add: "permits <- struct{}{}; time.Sleep($D); <-permits", end: "var permits = make(chan struct{}, 1)"},
	"poll":      {imports: "time", add: "for until := time.Now().Add($D); time.Now().Before(until); { time.Sleep(500 * time.Microsecond) }"},
	"herd": {
		imports: "sync", add: "changes.L.Lock(); changes.Broadcast(); changes.L.Unlock()", names: []string{"awaitChange"},
		end: "var changes = sync.NewCond(new(sync.Mutex)); func init() { for i := 0; i < $D; i++ { go awaitChange() } }; func awaitChange() { changes.L.Lock(); for { changes.Wait() } }",
	},
	"leak": {
		imports: "time", add: "reserve()", names: []string{"reserve", "keepSlot"},
		end: "var slots = make(chan struct{}, 4); func reserve() { select { case slots <- struct{}{}: go keepSlot(); case <-time.After($D): } }; func keepSlot() { select {} }",
	},
	"serial": {imports: "time", add: "for i := 0; i < 4; i++ { lookUp() }", end: "func lookUp() { time.Sleep($D) }", names: []string{"lookUp"}},
}

// planted are the programs with a fault of each, in the order in which they are recorded.
func planted() []plant {
	var all []plant
	add := func(kind, name string, b builder, module string, f fault) {
		f.module = module
		all = append(all, plant{load{name: kind + "-" + name, kind: kind, builder: b}, f})
	}
	for _, x := range plantedTests {
		kind := "suite"
		if x.bench != "" {
			kind = "benchmark"
		}
		add(kind, x.name, x.module, x.version, x.fault)
	}
	for _, x := range plantedServers {
		add("server", x.name, x.server, x.module, x.fault)
	}
	for _, x := range plantedTools {
		add("tool", x.name, x.tool, x.version, x.fault)
	}
	return all
}

var plantedTests = []struct {
	module
	fault
}{
	{module{name: "golang-lru", version: "github.com/hashicorp/golang-lru/v2@v2.0.7", run: "."},
		fault{file: "lru.go", at: "func (c *Cache[K, V]) Add(", culprit: "(*Cache[...]).Add", mechanism: "garbage", much: "1024"}},
	{module{name: "go-cache", version: "github.com/patrickmn/go-cache@v2.1.0+incompatible", run: "."},
		fault{file: "cache.go", at: "func (c *cache) Set(", culprit: "(*cache).Set", mechanism: "sleep", much: "2*time.Millisecond"}},
	{module{name: "freecache", version: "github.com/coocood/freecache@v1.2.7", run: "TestOverwrite|TestGetOrSet|TestSetAndGet|TestUpdate|TestMultiGet"},
		fault{file: "cache.go", at: "func (cache *Cache) Set(", culprit: "(*Cache).Set", mechanism: "lock-cpu", much: "40*time.Millisecond"}},
	{module{name: "fastcache", version: "github.com/VictoriaMetrics/fastcache@v1.13.2", run: "TestSaveLoadSmall"},
		fault{file: "file.go", at: "func (b *bucket) Save(", culprit: "(*bucket).Save", mechanism: "lock-sleep", much: "2*time.Millisecond"}},
	{module{name: "ants", version: "github.com/panjf2000/ants/v2@v2.12.1", run: "TestNonblockingSubmit|TestReboot"},
		fault{file: "ants.go", at: "func (p *poolCommon) retrieveWorker(", culprit: "(*poolCommon).retrieveWorker", mechanism: "poll", much: "8*time.Millisecond"}},
	{module{name: "pond", version: "github.com/alitto/pond/v2@v2.7.1", run: "TestPool"},
		fault{file: "pool.go", at: "func (p *pool) updateMetrics(", culprit: "(*pool).updateMetrics", mechanism: "hand-over", much: "2*time.Millisecond"}},
	{module{name: "conc", version: "github.com/sourcegraph/conc@v0.3.0", pkg: "pool", run: "."},
		fault{file: "pool/pool.go", at: "func (p *Pool) Go(", culprit: "(*Pool).Go", mechanism: "serial", much: "2*time.Millisecond"}},
	{module{name: "puddle", version: "github.com/jackc/puddle/v2@v2.2.3", run: "TestPoolAcquire|TestPoolStat|TestPoolReset|TestResource"},
		fault{file: "pool.go", at: "func (p *Pool[T]) Acquire(", culprit: "(*Pool[...]).Acquire", mechanism: "lock-sleep", much: "15*time.Millisecond"}},
	{module{name: "workerpool", version: "github.com/gammazero/workerpool@v1.3.0", run: "TestMaxWorkers|TestReuseWorkers|TestSubmitWait|TestOverflow|TestStopRace|TestWaitingQueueSizeRace"},
		fault{file: "workerpool.go", at: "func (p *WorkerPool) Do(", culprit: "(*WorkerPool).Do", mechanism: "storm", much: "2000"}},
	{module{name: "ttlcache", version: "github.com/jellydator/ttlcache/v3@v3.4.1", run: "Test_Cache_(set|get|Get|Set|GetOrSet|updateExpirations|Delete|Touch)$"},
		fault{file: "cache.go", at: "func (c *Cache[K, V]) set(", culprit: "(*Cache[...]).set", mechanism: "collect", much: "2"}},
	{module{name: "cron", version: "github.com/robfig/cron/v3@v3.0.1", run: "TestChain|TestNext|TestActivation|TestParse"},
		fault{file: "spec.go", at: "func (s *SpecSchedule) Next(", culprit: "(*SpecSchedule).Next", mechanism: "cpu-loop", much: "20*time.Millisecond"}},
	{module{name: "logrus", version: "github.com/sirupsen/logrus@v1.10.2", run: ".", skip: "TestNestedLogging|TestWriterSplit|TestCallerReportingOverhead"},
		fault{file: "entry.go", at: "func (entry *Entry) write(", culprit: "(*Entry).write", mechanism: "lock-cpu", much: "3*time.Millisecond"}},
	{module{name: "lz4", version: "github.com/pierrec/lz4/v4@v4.1.33", run: "TestWriterFlush|TestWriter_Reset|TestIssue"},
		fault{file: "internal/lz4stream/block.go", at: "func (b *FrameDataBlock) Compress(", culprit: "(*FrameDataBlock).Compress", mechanism: "garbage", much: "4096"}},
	{module{name: "buntdb", version: "github.com/tidwall/buntdb@v1.3.0", run: "TestVariousTx|TestDatabaseFormat|TestBasic|TestSaveLoad|TestInsertsAndDeleted|TestDeleteAll"},
		fault{file: "buntdb.go", at: "func (tx *Tx) Commit(", culprit: "(*Tx).Commit", mechanism: "sleep", much: "20*time.Millisecond"}},
	{module{name: "gobreaker", version: "github.com/sony/gobreaker/v2@v2.4.0", run: "InParallel|TestCustom|TestTwoStep|TestRolling"},
		fault{file: "gobreaker.go", at: "func (cb *CircuitBreaker[T]) beforeRequest(", culprit: "(*CircuitBreaker[...]).beforeRequest", mechanism: "semaphore", much: "5*time.Millisecond"}},
	{module{name: "watermill", version: "github.com/ThreeDotsLabs/watermill@v1.5.1", pkg: "pubsub/gochannel", run: "TestPublishSubscribe_(not_persistent$|block|do_not)|race_condition"},
		fault{file: "pubsub/gochannel/pubsub.go", at: "func (g *GoChannel) Publish(", culprit: "(*GoChannel).Publish", mechanism: "poll", much: "5*time.Millisecond"}},
	{module{name: "gorilla", version: "github.com/gorilla/websocket@v1.5.3", run: ".", skip: "TestMaskBytes|TestHost|TestFraming"},
		fault{file: "conn.go", at: "func (c *Conn) write(", culprit: "(*Conn).write", mechanism: "semaphore", much: "20*time.Millisecond"}},
	{module{name: "smux", version: "github.com/xtaci/smux@v1.5.58", run: "TestEcho|TestServerEcho|TestWriteTo|TestConcurrentClose|TestTinyReadBuffer"},
		fault{file: "session.go", at: "request, ok := s.sq.Pop()", culprit: "(*Session).sendLoop", mechanism: "hand-over", much: "time.Millisecond"}},
	{module{name: "memberlist", version: "github.com/hashicorp/memberlist@v0.7.0", run: "TestMemberlist_Join$|TestMemberlist_Leave|TestMemberlist_UserData|TestMemberlist_SendTo"},
		fault{file: "net.go", at: "func (m *Memberlist) readRemoteState(", culprit: "(*Memberlist).readRemoteState", mechanism: "cpu-loop", much: "80*time.Millisecond"}},
	{module{name: "concurrent-map", version: "github.com/orcaman/concurrent-map/v2@v2.0.1", run: "."},
		fault{file: "concurrent_map.go", at: "func (m ConcurrentMap[K, V]) Set(", culprit: "ConcurrentMap[...].Set", mechanism: "leak", much: "5*time.Millisecond"}},

	{module{name: "bigcache", version: "github.com/allegro/bigcache/v3@v3.1.0", bench: "WriteToCache|AppendToCache|ReadFromCache"},
		fault{file: "bigcache.go", at: "func (c *BigCache) Get(", culprit: "(*BigCache).Get", mechanism: "lock-sleep", much: "2*time.Millisecond"}},
	{module{name: "xsync", version: "github.com/puzpuzpuz/xsync/v4@v4.5.0", bench: "MapInt_WarmUp|MapCompute|Counter"},
		fault{file: "map.go", at: "func (m *Map[K, V]) Load(", culprit: "(*Map[...]).Load", mechanism: "lock-cpu", much: "100*time.Microsecond"}},
	{module{name: "semaphore", version: "golang.org/x/sync@v0.25.0", pkg: "semaphore", bench: "."},
		fault{file: "semaphore/semaphore.go", at: "func (s *Weighted) Acquire(", culprit: "(*Weighted).Acquire", mechanism: "sleep", much: "time.Millisecond"}},
	{module{name: "ristretto", version: "github.com/dgraph-io/ristretto/v2@v2.4.2", bench: "Store"},
		fault{file: "store.go", at: "func (m *lockedMap[V]) get(", culprit: "(*lockedMap[...]).get", mechanism: "storm", much: "200"}},
	{module{name: "rate", version: "golang.org/x/time@v0.16.0", pkg: "rate", bench: "."},
		fault{file: "rate/rate.go", at: "func (lim *Limiter) reserveN(", culprit: "(*Limiter).reserveN", mechanism: "spin", much: "200*time.Microsecond"}},
	{module{name: "bytebufferpool", version: "github.com/valyala/bytebufferpool@v1.0.0", bench: "."},
		fault{file: "bytebuffer.go", at: "func (b *ByteBuffer) Write(", culprit: "(*ByteBuffer).Write", mechanism: "collect", much: "1"}},
	{module{name: "pgzip", version: "github.com/klauspost/pgzip@v1.3.0", bench: "GzipL[1-4]"},
		fault{file: "gzip.go", at: "func (z *Writer) compressCurrent(", culprit: "(*Writer).compressCurrent", mechanism: "serial", much: "30*time.Millisecond"}},
	{module{name: "zap", version: "go.uber.org/zap@v1.28.0", bench: "Field$|NoContext|10Fields"},
		fault{file: "zapcore/core.go", at: "func (c *ioCore) Write(", culprit: "(*ioCore).Write", mechanism: "poll", much: "2*time.Millisecond"}},
	{module{name: "zerolog", version: "github.com/rs/zerolog@v1.35.1", bench: "Info|Context|LogFields|LogEmpty"},
		fault{file: "event.go", at: "func newEvent(", culprit: "zerolog.newEvent", mechanism: "garbage", much: "256"}},
	{module{name: "go-memdb", version: "github.com/hashicorp/go-memdb@v1.3.5", bench: "."},
		fault{file: "index.go", at: "func (u *UUIDFieldIndex) parseString(", culprit: "(*UUIDFieldIndex).parseString", mechanism: "cpu-loop", much: "20*time.Millisecond"}},
	{module{name: "zstd", version: "github.com/klauspost/compress@v1.20.3", pkg: "zstd", bench: "Decoder_DecodeAllParallel"},
		fault{file: "zstd/decoder.go", at: "func (d *Decoder) DecodeAll(", culprit: "(*Decoder).DecodeAll", mechanism: "semaphore", much: "3*time.Millisecond"}},
	{module{name: "prometheus", version: "github.com/prometheus/client_golang@v1.25.0", pkg: "prometheus", bench: "HistogramObserve|HistogramNoLabels|HistogramWithLabel"},
		fault{file: "prometheus/histogram.go", at: "func (h *histogram) observe(", culprit: "(*histogram).observe", mechanism: "herd", much: "100"}},
	{module{name: "fasthttp", version: "github.com/valyala/fasthttp@v1.78.0", bench: "ServerGet|ServerPost"},
		fault{file: "server.go", at: "func writeResponse(", culprit: "fasthttp.writeResponse", mechanism: "storm", much: "100"}},
	{module{name: "gin", version: "github.com/gin-gonic/gin@v1.12.0", bench: "OneRoute|ManyHandlers|404"},
		fault{file: "gin.go", at: "func (engine *Engine) handleHTTPRequest(", culprit: "(*Engine).handleHTTPRequest", mechanism: "leak", much: "time.Millisecond"}},
	{module{name: "mux", version: "github.com/gorilla/mux@v1.8.1", bench: "."},
		fault{file: "mux.go", at: "func (r *Router) ServeHTTP(", culprit: "(*Router).ServeHTTP", mechanism: "hand-over", much: "200*time.Microsecond"}},
}

var plantedServers = []struct {
	server
	module string
	fault
}{
	{server{name: "gin"}, "github.com/gin-gonic/gin@v1.12.0",
		fault{file: "gin.go", at: "func (engine *Engine) ServeHTTP(", culprit: "(*Engine).ServeHTTP", mechanism: "lock-sleep", much: "3*time.Millisecond"}},
	{server{name: "echo"}, "github.com/labstack/echo/v4@v4.16.0",
		fault{file: "json.go", at: "func (d DefaultJSONSerializer) Serialize(", culprit: "DefaultJSONSerializer.Serialize", mechanism: "lock-cpu", much: "3*time.Millisecond"}},
	{server{name: "chi"}, "github.com/go-chi/chi/v5@v5.5.0",
		fault{file: "mux.go", at: "func (mx *Mux) routeHTTP(", culprit: "(*Mux).routeHTTP", mechanism: "serial", much: "2*time.Millisecond"}},
	{server{name: "fasthttp"}, "github.com/valyala/fasthttp@v1.78.0",
		fault{file: "server.go", at: "func writeResponse(", culprit: "fasthttp.writeResponse", mechanism: "collect", much: "2"}},
	{server{name: "http3"}, "github.com/quic-go/quic-go@v0.65.0",
		fault{file: "http3/response_writer.go", at: "func newResponseWriter(", culprit: "http3.newResponseWriter", mechanism: "garbage", much: "8192"}},
	{server{name: "websocket"}, "github.com/coder/websocket@v1.8.15",
		fault{file: "write.go", at: "func (c *Conn) writeFrame(", culprit: "(*Conn).writeFrame", mechanism: "poll", much: "5*time.Millisecond"}},
	{server{name: "grpc"}, "google.golang.org/grpc@v1.85.0",
		fault{file: "health/server.go", at: "func (s *Server) Check(", culprit: "(*Server).Check", mechanism: "hand-over", much: "4*time.Millisecond"}},
	{server{name: "nats"}, "github.com/nats-io/nats-server/v2@v2.15.2",
		fault{file: "server/client.go", at: "func (c *client) processInboundClientMsg(", culprit: "(*client).processInboundClientMsg", mechanism: "storm", much: "1000"}},
	{server{name: "mqtt"}, "github.com/mochi-mqtt/server/v2@v2.7.9",
		fault{file: "server.go", at: "func (s *Server) publishToSubscribers(", culprit: "(*Server).publishToSubscribers", mechanism: "sleep", much: "4*time.Millisecond"}},
	{server{name: "redis"}, "github.com/alicebob/miniredis/v2@v2.40.0",
		fault{file: "cmd_string.go", at: "func (m *Miniredis) cmdIncr(", culprit: "(*Miniredis).cmdIncr", mechanism: "semaphore", much: "3*time.Millisecond"}},
	{server{name: "dns"}, "github.com/miekg/dns@v1.1.73",
		fault{file: "server.go", at: "func (srv *Server) serveDNS(", culprit: "(*Server).serveDNS", mechanism: "spin", much: "3*time.Millisecond"}},
	{server{name: "bbolt"}, "go.etcd.io/bbolt@v1.5.0",
		fault{file: "db.go", at: "func (db *DB) beginTx(", culprit: "(*DB).beginTx", mechanism: "herd", much: "400"}},
	{server{name: "yamux"}, "github.com/hashicorp/yamux@v0.1.2",
		fault{file: "stream.go", at: "func (s *Stream) Write(", culprit: "(*Stream).Write", mechanism: "leak", much: "5*time.Millisecond"}},
	{server{name: "mux"}, "github.com/gorilla/mux@v1.8.1",
		fault{file: "mux.go", at: "func (r *Router) Match(", culprit: "(*Router).Match", mechanism: "cpu-loop", much: "20*time.Millisecond"}},
	{server{name: "redcon"}, "github.com/tidwall/redcon@v1.6.4",
		fault{file: "redcon.go", at: "c.cmds = cmds", culprit: "redcon.handle", mechanism: "serial", much: "time.Millisecond"}},
}

var plantedTools = []struct {
	tool
	fault
}{
	{tool{name: "esbuild", version: "github.com/evanw/esbuild@v0.28.2", pkg: "cmd/esbuild",
		args: []string{"lib/npm/node.ts", "lib/npm/browser.ts", "--bundle", "--platform=node", "--packages=external", "--minify", "--sourcemap", "--outdir=out"}},
		fault{file: "internal/js_printer/js_printer.go", at: "func Print(", culprit: "js_printer.Print", mechanism: "lock-sleep", much: "20*time.Millisecond"}},
	{tool{name: "gofumpt", version: "mvdan.cc/gofumpt@v0.12.0", on: "google.golang.org/grpc@v1.85.0", args: []string{"-l", "health", "resolver", "encoding", "credentials", "stats", "keepalive"}},
		fault{file: "format/format.go", at: "func File(", culprit: "format.File", mechanism: "lock-cpu", much: "10*time.Millisecond"}},
	{tool{name: "goimports", version: "golang.org/x/tools@v0.52.0", pkg: "cmd/goimports", args: []string{"-format-only", "-l", "internal/imports", "go/types", "go/packages"}},
		fault{file: "internal/imports/imports.go", at: "func Process(", culprit: "imports.Process", mechanism: "sleep", much: "20*time.Millisecond"}},
	{tool{name: "minify", version: "github.com/tdewolff/minify/v2@v2.24.25", pkg: "cmd/minify", args: []string{"-o", "out/", "_benchmarks/sample_ace.js", "_benchmarks/sample_bbc.html", "_benchmarks/sample_bootstrap.css", "_benchmarks/sample_books.xml", "_benchmarks/sample_car.svg"}},
		fault{file: "js/js.go", at: "func (m *jsMinifier) minifyStmt(", culprit: "(*jsMinifier).minifyStmt", mechanism: "herd", much: "2000"}},
	{tool{name: "s2c", version: "github.com/klauspost/compress@v1.20.3", pkg: "s2/cmd/s2c", args: []string{"-c", "-blocksize=8K", "zstd/*.go"}},
		fault{file: "s2/writer.go", at: "func (w *Writer) writeFull(", culprit: "(*Writer).writeFull", mechanism: "hand-over", much: "10*time.Millisecond"}},
	{tool{name: "revive", version: "github.com/mgechev/revive@v1.17.0", args: []string{"./formatter/...", "./cli/..."}},
		fault{file: "lint/file.go", at: "ruleConfig := rulesConfig[", culprit: "(*File).lint", mechanism: "semaphore", much: "5*time.Millisecond"}},
	{tool{name: "misspell", version: "github.com/golangci/misspell@v0.8.0", pkg: "cmd/misspell", on: "google.golang.org/grpc@v1.85.0", args: []string{"health", "resolver", "encoding", "credentials", "stats", "keepalive"}},
		fault{file: "replace.go", at: "func (r *Replacer) Replace(", culprit: "(*Replacer).Replace", mechanism: "garbage", much: "8192"}},
	{tool{name: "addlicense", version: "github.com/google/addlicense@v1.1.1", on: "google.golang.org/grpc@v1.85.0", args: []string{"-check", "internal", "balancer"}, exit: 1},
		fault{file: "main.go", at: "func fileMatches(", culprit: "main.fileMatches", mechanism: "leak", much: "5*time.Millisecond"}},
	{tool{name: "gocyclo", version: "github.com/fzipp/gocyclo@v0.6.0", pkg: "cmd/gocyclo", on: "google.golang.org/grpc@v1.85.0", args: []string{"-top", "10", "health", "resolver", "encoding", "credentials", "stats", "keepalive"}},
		fault{file: "analyze.go", at: "func analyzeFile(", culprit: "gocyclo.analyzeFile", mechanism: "collect", much: "5"}},
	{tool{name: "shfmt", version: "mvdan.cc/sh/v3@v3.14.1", pkg: "cmd/shfmt", args: []string{"-l", "."}},
		fault{file: "syntax/parser.go", at: "func (p *Parser) Parse(", culprit: "(*Parser).Parse", mechanism: "cpu-loop", much: "60*time.Millisecond"}},
}
