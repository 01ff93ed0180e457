package domain

import "testing"

func TestWhatWasSeenUnderAnotherNameSaysNothing(t *testing.T) {
	t.Parallel()
	pass, unknown := Check{Status: CheckPass}, Check{Status: CheckNotChecked}
	seen := Domain{ReturnLabel: "bounce", TrackingLabel: "track"}
	now := Domain{ReturnLabel: "return", TrackingLabel: "track", Checks: Checks{ReturnPath: unknown, Tracking: unknown}}
	got := Checks{ReturnPath: pass, Tracking: pass}.of(seen, now)
	if got.ReturnPath.Status != CheckNotChecked || got.Tracking.Status != CheckPass {
		t.Errorf("return path %s, tracking %s", got.ReturnPath.Status, got.Tracking.Status)
	}
	if got := uncheckedAll().key("s1"); got.Status != CheckNotChecked {
		t.Errorf("a key that nobody looked for: %q", got.Status)
	}
}
