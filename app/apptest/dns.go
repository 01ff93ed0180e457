package apptest

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
)

// Publish sets the records of a name in the DNS of the sandbox; none at all says that there is no such record.
func (in *Installation) Publish(name, kind string, values ...string) {
	in.t.Helper()
	body, err := json.Marshal(map[string]any{"name": name, "type": kind, "values": append([]string{}, values...)})
	in.must(err)
	in.atSandbox(http.MethodPut, "/sandbox/dns", body)
}

// Withdraw forgets everything that was published at a name.
func (in *Installation) Withdraw(name string) {
	in.t.Helper()
	in.atSandbox(http.MethodDelete, "/sandbox/dns?name="+name, nil)
}

func (in *Installation) atSandbox(method, path string, body []byte) {
	in.t.Helper()
	recorder := httptest.NewRecorder()
	in.Sandbox.Handler().ServeHTTP(recorder, httptest.NewRequestWithContext(in.t.Context(), method, "http://localhost"+path, bytes.NewReader(body)))
	if recorder.Code != http.StatusOK {
		in.t.Fatalf("%s %s: %d %s", method, path, recorder.Code, recorder.Body)
	}
}
