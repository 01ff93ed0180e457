package webhook

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestTextsOfReceivedMailArePostedOnlyToThoseWhoAsked(t *testing.T) {
	t.Parallel()
	page := strings.Repeat("x", 2*maxPayload)
	whole := string(envelope{ID: sampleID, Type: receivedType, Workspace: sampleWorkspace, Data: mustMarshal(map[string]any{"subject": "Hi", "html": page, "text": "x", "headers": map[string]string{"a": "b"}})}.write())
	if !strings.Contains(whole, page) || !strings.Contains(whole, `"headers":{"a":"b"}`) || strings.Contains(whole, "truncated") {
		t.Errorf("the text counts against the rest: %.200s", whole)
	}
	if got := shownTo(&Endpoint{IncludeBody: true}, receivedType, whole); got != whole {
		t.Errorf("%.200s", got)
	}
	var shown struct {
		ID   string
		Data map[string]any
	}
	if err := json.Unmarshal([]byte(shownTo(&Endpoint{}, receivedType, whole)), &shown); err != nil {
		t.Fatal(err)
	}
	if shown.ID != sampleID || shown.Data["subject"] != "Hi" || shown.Data["html"] != nil || shown.Data["text"] != nil {
		t.Errorf("%+v", shown)
	}
	sent := `{"type":"email.sent","data":{"text":"x"}}`
	if got := shownTo(&Endpoint{}, "email.sent", sent); got != sent {
		t.Errorf("%s", got)
	}
}
