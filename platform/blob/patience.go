package blob

import (
	"context"
	"errors"
	"io"
	"net/http"
	"time"
)

const (
	// s3Patience is how long the service may think before it answers, and pause in the middle of an answer.
	s3Patience = 30 * time.Second
	// s3SlowestUpload is how many bytes a second it must take at least.
	s3SlowestUpload = 32 << 10
)

// errStalled means that the service has neither ended nor gone on with an answer.
var errStalled = errors.New("the storage service stopped in the middle of an answer")

// impatient ends requests that stand still: the workers that wait for a blob have no limit of their own.
type impatient struct {
	next http.RoundTripper
}

func (i impatient) RoundTrip(request *http.Request) (*http.Response, error) {
	ctx, giveUp := context.WithCancel(request.Context())
	upload := time.Duration(max(request.ContentLength, 0)/s3SlowestUpload) * time.Second
	inTime := within(2*s3Patience+upload, giveUp) // to connect and to answer
	answer, err := i.next.RoundTrip(request.WithContext(ctx))
	inTime()
	if err != nil {
		giveUp()
		return nil, err
	}
	answer.Body = &impatientBody{ReadCloser: answer.Body, giveUp: giveUp}
	return answer, nil
}

type impatientBody struct {
	io.ReadCloser
	giveUp func()
}

func (b *impatientBody) Read(p []byte) (int, error) {
	inTime := within(s3Patience, b.giveUp)
	n, err := b.ReadCloser.Read(p)
	if !inTime() && err != nil {
		err = errStalled
	}
	return n, err
}

func (b *impatientBody) Close() error {
	defer b.giveUp()
	return b.ReadCloser.Close()
}

// within calls giveUp when the time has passed, unless what it returns is called before. That tells whether it was.
func within(span time.Duration, giveUp func()) (inTime func() bool) {
	waiting, end := context.WithTimeout(context.Background(), span)
	stop := context.AfterFunc(waiting, giveUp)
	return func() bool {
		defer end()
		return stop()
	}
}
