package sandbox

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// segmentBytes is when a new file is begun. Files are dropped whole, so it is also how much longer than needed old mail may
// take up room.
const segmentBytes = 16 << 20

var errNoSegment = errors.New("segment was dropped")

// place is where a line of the spool lies.
type place struct {
	segment int
	offset  int64
	length  int
}

// spool is a row of journals in a directory, written at one end and dropped at the other.
type spool struct {
	dir      string
	segments map[int]*journal
	oldest   int
	newest   int
}

// openSpool opens the segments in dir and hands every line in them to read, oldest first.
func openSpool(dir string, read func(line []byte, at place)) (*spool, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	numbers, err := listSegments(dir)
	if err != nil {
		return nil, err
	}
	if len(numbers) == 0 {
		numbers = []int{1}
	}
	s := &spool{dir: dir, segments: make(map[int]*journal), oldest: numbers[0], newest: numbers[len(numbers)-1]}
	for _, number := range numbers {
		if err := s.open(number, read); err != nil {
			return nil, errors.Join(err, s.close())
		}
	}
	return s, nil
}

func listSegments(dir string) ([]int, error) {
	files, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var numbers []int
	for _, file := range files {
		name, isSegment := strings.CutSuffix(file.Name(), ".jsonl")
		if number, err := strconv.Atoi(name); isSegment && err == nil {
			numbers = append(numbers, number)
		}
	}
	slices.Sort(numbers)
	return numbers, nil
}

func (s *spool) path(number int) string {
	return filepath.Join(s.dir, fmt.Sprintf("%08d.jsonl", number))
}

func (s *spool) open(number int, read func(line []byte, at place)) error {
	j, err := openJournal(s.path(number), func(line []byte, offset int64) {
		read(line, place{segment: number, offset: offset, length: len(line)})
	})
	if err == nil {
		s.segments[number] = j
	}
	return err
}

func (s *spool) append(line []byte) (place, error) {
	if s.segments[s.newest].size >= segmentBytes {
		if err := s.open(s.newest+1, func([]byte, place) {}); err != nil {
			return place{}, err
		}
		s.newest++
	}
	offset, err := s.segments[s.newest].append(line)
	return place{segment: s.newest, offset: offset, length: len(line)}, err
}

func (s *spool) read(at place) ([]byte, error) {
	j := s.segments[at.segment]
	if j == nil {
		return nil, errNoSegment
	}
	return j.read(at.offset, at.length)
}

// dropBefore removes the segments older than the given one.
func (s *spool) dropBefore(number int) error {
	for ; s.oldest < number; s.oldest++ {
		j := s.segments[s.oldest]
		if j == nil {
			continue
		}
		delete(s.segments, s.oldest)
		if err := errors.Join(j.close(), os.Remove(s.path(s.oldest))); err != nil {
			return err
		}
	}
	return nil
}

// clear removes all segments and begins a new one, so that no old place can ever be mistaken for a new one.
func (s *spool) clear() error {
	if err := s.open(s.newest+1, func([]byte, place) {}); err != nil {
		return err
	}
	s.newest++
	return s.dropBefore(s.newest)
}

func (s *spool) close() error {
	var problems []error
	for _, j := range s.segments {
		problems = append(problems, j.close())
	}
	return errors.Join(problems...)
}
