package par

import (
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"
)

// A solver calls [For] some thousand times a second, with microseconds between the calls. It takes a virtual machine up to
// 100 µs to wake a thread that sleeps, a tenth of a product of a graph of 60,000 vertices with eight columns. So a
// goroutine that has run out of chunks does not sleep at once: it sits down and asks for the chunks of another call for
// about as long as it takes to wake it, and then ends.

// patience is how long a goroutine asks before it ends, and [For] before it sleeps until the others are done.
const patience = 50 * time.Microsecond

// job is one call of [ForWorker].
type job struct {
	fn               func(worker, lo, hi int)
	n, grain, chunks int
	workers          int
	next             atomic.Int64 // the chunk to hand out
	begun            atomic.Int32 // workers that have begun: the next one's number
	running          atomic.Int32 // workers that have not ended
	unfinished       sync.WaitGroup
	once             sync.Once
	failure          *Panic
}

func newJob(n, grain, workers int, fn func(worker, lo, hi int)) *job {
	j := &job{fn: fn, n: n, grain: grain, chunks: Chunks(n, grain), workers: workers}
	j.running.Store(int32(workers))
	j.unfinished.Add(workers)
	return j
}

// work takes the next chunk until none is left, and reports whether it got one. The first panic ends the hand-out.
func (j *job) work() (worked bool) {
	defer j.leave()
	defer func() {
		if r := recover(); r != nil {
			j.once.Do(func() { j.failure = &Panic{r, debug.Stack()} })
			j.next.Store(int64(j.chunks))
		}
	}()

	worker := int(j.begun.Add(1)) - 1
	for {
		c := int(j.next.Add(1)) - 1
		if c >= j.chunks {
			return worked
		}
		worked = true
		j.fn(worker, c*j.grain, min((c+1)*j.grain, j.n))
	}
}

// leave counts one worker out.
func (j *job) leave() {
	j.running.Add(-1)
	j.unfinished.Done()
}

// wait returns when all workers have left. It sleeps at once if one has not begun: that one may need this processor.
func (j *job) wait() {
	if int(j.begun.Load()) == j.workers && until(func() bool { return j.running.Load() == 0 }) {
		return
	}
	j.unfinished.Wait()
}

// help works on j, and then on the jobs that it is given while it sits.
func help(j *job) {
	debug.SetPanicOnFault(true)
	for j != nil && j.work() {
		j = nextJob()
	}
}

// A seat is empty (nil), or holds seated while a goroutine sits there, and then the job that it is given.
var (
	seats  [64]atomic.Pointer[job]
	seated = new(job)
)

// give hands j to at most so many goroutines that sit, and returns the set of their seats.
func give(j *job, most int) (given uint64) {
	for i := range seats {
		if most == 0 {
			break
		}
		if seats[i].Load() == seated && seats[i].CompareAndSwap(seated, j) {
			given |= 1 << i
			most--
		}
	}
	return given
}

// takeBack takes j from those to whom it was given and who have not begun: their threads may not run at present.
func takeBack(j *job, given uint64) {
	for i := range seats {
		if given>>i&1 == 1 && seats[i].CompareAndSwap(j, seated) {
			j.begun.Add(1)
			j.leave()
		}
	}
}

// nextJob sits down, and returns the job that it is given, or nil if none comes or no seat is empty.
func nextJob() (j *job) {
	for i := range seats {
		s := &seats[i]
		if s.Load() != nil || !s.CompareAndSwap(nil, seated) {
			continue
		}
		got := func() bool {
			j = s.Load()
			return j != seated && s.CompareAndSwap(j, nil)
		}
		for !until(got) {
			if s.CompareAndSwap(seated, nil) {
				return nil
			}
		}
		return j
	}
	return nil
}

// until asks again and again, at most for patience, and returns the last answer.
func until(done func() bool) bool {
	const looks = 64 // between two looks at the clock
	var begin time.Time
	for i := 1; ; i++ {
		switch {
		case done():
			return true
		case i == looks:
			begin = time.Now()
		case i%looks == 0 && time.Since(begin) > patience:
			return false
		}
	}
}
