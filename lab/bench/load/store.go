package main

import (
	"log"
	"math/rand/v2"
	"os"
	"sync"
)

// A keyValue is a store that keeps its values in a file, and what was put since
// in another, in the order of the puts.
type keyValue struct {
	values  *os.File
	mu      sync.Mutex // of journal
	puts    int
	journal *os.File
}

const (
	valueSize  = 256
	storeKeys  = 16 << 10
	commitEach = 256 // puts
)

// store is a key-value store: clients read size values at random and write one for
// every ten that they read. Each is a system call, and every now and then one
// waits for the disk.
func store(size int) func() {
	const clients = 16
	kv := &keyValue{values: scratchFile(), journal: scratchFile()}
	if err := kv.values.Truncate(storeKeys * valueSize); err != nil {
		log.Fatal(err)
	}
	return func() {
		var all sync.WaitGroup
		for client := range clients {
			all.Go(func() { kv.client(uint64(client), size/clients) })
		}
		all.Wait()
	}
}

func (kv *keyValue) client(seed uint64, gets int) {
	r := rand.New(rand.NewPCG(seed, 0))
	value := make([]byte, valueSize)
	for i := range gets {
		if err := deep(i%5, func() error { return kv.get(r.Int64N(storeKeys), value) }); err != nil {
			log.Fatal(err)
		}
		if i%10 > 0 {
			continue
		}
		if err := kv.put(value); err != nil {
			log.Fatal(err)
		}
	}
}

func (kv *keyValue) get(key int64, value []byte) error {
	_, err := kv.values.ReadAt(value, key*valueSize)
	return err
}

func (kv *keyValue) put(value []byte) error {
	kv.mu.Lock()
	defer kv.mu.Unlock()
	if _, err := kv.journal.Write(value); err != nil {
		return err
	}
	if kv.puts++; kv.puts%commitEach > 0 {
		return nil
	}
	return kv.journal.Sync()
}
