package web

import "net/http"

// needing is a page that begins an action, for people whose role carries the scope of it. The API would refuse the others at its
// end; they should not fill in a form before.
func needing(scope string, answer func(*visit) error) func(*visit) error {
	return func(v *visit) error {
		if !v.can(scope) {
			return notYours()
		}
		return answer(v)
	}
}

// managing is a page for those who may change the workspace itself.
func managing(answer func(*visit) error) func(*visit) error {
	return func(v *visit) error {
		if !v.shell("", "").Manages() {
			return notYours()
		}
		return answer(v)
	}
}

func notYours() *problem {
	return &problem{Status: http.StatusForbidden, Code: "workspace_role_required", Message: "Your role in this workspace does not allow this. Ask an owner or an administrator."}
}
