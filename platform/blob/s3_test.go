package blob_test

import (
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"postrider/platform/blob"
)

func TestAnS3URLIsRead(t *testing.T) {
	t.Parallel()
	for raw, want := range map[string]blob.S3Config{
		"s3://K:S@s3.example.com/mail": {
			Endpoint: "s3.example.com", AccessKey: "K", SecretKey: "S", Bucket: "mail", Region: "us-east-1", TLS: true},
		"s3://K%2F:S%40%3A@127.0.0.1:9000/mail/a/b/?tls=false&region=eu-central-1": {
			Endpoint: "127.0.0.1:9000", AccessKey: "K/", SecretKey: "S@:", Bucket: "mail", Prefix: "a/b/", Region: "eu-central-1"},
	} {
		if got, err := blob.ParseS3URL(raw); err != nil || got != want {
			t.Errorf("%s: %+v, %v; want %+v", raw, got, err, want)
		}
	}
}

func TestAnS3URLThatCannotWorkIsRefusedWithoutItsSecret(t *testing.T) {
	t.Parallel()
	for _, raw := range []string{
		"",
		"file:///var/lib",
		"https://K:hush@host/mail",
		"s3://host/mail",
		"s3://K@host/mail",
		"s3://:hush@host/mail",
		"s3://K:hush@host",
		"s3://K:hush@host/",
		"s3://K:hush@/mail",
		"s3://K:hush@host/mail?tls=perhaps",
		"s3://K:hush@host/mail?acl=public",
		"s3://K:hush%zz@host/mail",
	} {
		config, err := blob.ParseS3URL(raw)
		if err == nil || config != (blob.S3Config{}) {
			t.Errorf("%q: read as %+v", raw, config)
			continue
		}
		if strings.Contains(err.Error(), "hush") {
			t.Errorf("%q: the error shows the secret: %v", raw, err)
		}
	}
}

func TestAServiceThatRefusesIsReported(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusForbidden)
	}))
	defer server.Close()
	store, err := blob.NewS3(blob.S3Config{
		Endpoint: strings.TrimPrefix(server.URL, "http://"), AccessKey: "K", SecretKey: "S", Bucket: "mail", Region: "us-east-1",
	}, &net.Dialer{})
	if err != nil {
		t.Fatal(err)
	}

	_, putErr := store.Put(t.Context(), strings.NewReader("a"), 1)
	_, openErr := store.Open(t.Context(), blob.Ref(strings.Repeat("a", 64)))
	deleteErr := store.Delete(t.Context(), blob.Ref(strings.Repeat("a", 64)))

	for what, err := range map[string]error{"put": putErr, "open": openErr, "delete": deleteErr} {
		if err == nil || !strings.Contains(err.Error(), what+" blob") {
			t.Errorf("%s: err = %v", what, err)
		}
	}
}
