package api_test

import (
	"errors"
	"testing"

	"postrider/platform/api"
)

func TestLimitAboveTheMaximumIsRefusedNotCut(t *testing.T) {
	t.Parallel()
	q := api.OffsetQuery{Limit: 201}
	if err := q.Check(200); !errors.Is(err, api.ErrValidation) {
		t.Fatalf("err = %v", err)
	}
	q = api.OffsetQuery{Offset: 1 << 40}
	if err := q.Check(200); !errors.Is(err, api.ErrValidation) {
		t.Fatalf("an offset beyond every list: %v", err)
	}
	q = api.OffsetQuery{}
	if err := q.Check(200); err != nil || q.Limit != 50 {
		t.Fatalf("default limit %d, %v", q.Limit, err)
	}
}
