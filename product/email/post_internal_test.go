package email

import (
	"bytes"
	"errors"
	"io"
	"testing"
	"testing/iotest"
)

func TestAMessageIsReadUntilItIsMoreThanARowMayHave(t *testing.T) {
	t.Parallel()
	head := []byte("Subject: room\r\n\r\n")
	for _, size := range []int{0, 1, firstRoom, smallMessage - 1, smallMessage, smallMessage + 1, inlineMessage - len(head), inlineMessage, 3 * inlineMessage} {
		whole := append(bytes.Clone(head), bytes.Repeat([]byte("abcdefg"), size/7+1)[:size]...)
		rest := bytes.NewReader(whole[len(head):])
		raw, err := fill(bytes.Clone(head), iotest.HalfReader(rest))
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.HasPrefix(whole, raw) || len(raw)+rest.Len() != len(whole) {
			t.Errorf("%d bytes: %d were read, %d are left, or they are others", size, len(raw)-len(head), rest.Len())
		}
		if fits := len(whole) <= inlineMessage; fits != (len(raw) <= inlineMessage) || fits && rest.Len() > 0 {
			t.Errorf("%d bytes: %d were read, %d are left", size, len(raw)-len(head), rest.Len())
		}
	}
}

func TestAMessageThatBreaksOffIsNotTakenForWhole(t *testing.T) {
	t.Parallel()
	lost := errors.New("connection lost")
	if _, err := fill(nil, io.MultiReader(bytes.NewReader(make([]byte, 5000)), iotest.ErrReader(lost))); !errors.Is(err, lost) {
		t.Errorf("error %v", err)
	}
}
