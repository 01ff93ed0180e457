package blob_test

import (
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

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
		"s3://K:hush@host/b",
		"s3://K:hush@host/a_bucket%20of/mail",
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

// answeredBy is a store in a bucket of a service that answers as a test wishes.
func answeredBy(t *testing.T, answer http.HandlerFunc) blob.Store {
	t.Helper()
	server := httptest.NewServer(answer)
	t.Cleanup(server.Close)
	store, err := blob.NewS3(blob.S3Config{
		Endpoint: strings.TrimPrefix(server.URL, "http://"), AccessKey: "K", SecretKey: "S", Bucket: "mail", Region: "us-east-1",
	}, &net.Dialer{}, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return store
}

func TestAServiceThatRefusesIsReported(t *testing.T) {
	t.Parallel()
	store := answeredBy(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusForbidden) })

	_, putErr := store.Put(t.Context(), strings.NewReader("a"), 1)
	_, openErr := store.Open(t.Context(), blob.Ref(strings.Repeat("a", 64)))
	deleteErr := store.Delete(t.Context(), blob.Ref(strings.Repeat("a", 64)))
	listErr := store.List(t.Context(), noon, func(blob.Info, time.Time) error { return nil })
	_, sweepErr := store.DeleteUntouched(t.Context(), blob.Ref(strings.Repeat("a", 64)), noon)

	for what, err := range map[string]error{"put": putErr, "open": openErr, "delete": deleteErr, "list": listErr} {
		if err == nil || !strings.Contains(err.Error(), what+" blob") {
			t.Errorf("%s: err = %v", what, err)
		}
	}
	if sweepErr == nil {
		t.Error("a blob that could not be looked at counts as gone")
	}
}

func TestAnUploadIsSignedWithTheHashOfItsContent(t *testing.T) {
	t.Parallel()
	var hash string
	store := answeredBy(t, func(w http.ResponseWriter, r *http.Request) {
		hash = r.Header.Get("X-Amz-Content-Sha256")
		w.Header().Set("ETag", `"a"`)
	})

	if ref := put(t, store, "content"); hash != ref.String() {
		t.Fatalf("signed for %q, want %s: the service could not tell damaged content", hash, ref)
	}
}

func TestABucketCanBeSharedByInstallations(t *testing.T) {
	t.Parallel()
	address := startS3(t, &clock{now: noon})
	all, part := openS3(t, address+"/mail"), openS3(t, address+"/mail/part")
	ours := put(t, all, "ours")
	theirs := put(t, part, "theirs")

	if found := list(t, all, noon.Add(time.Hour)); len(found) != 1 || found[blob.Info{Ref: ours, Size: 4}].IsZero() {
		t.Errorf("the one at the top sees %v", found)
	}
	if found := list(t, part, noon.Add(time.Hour)); len(found) != 1 || found[blob.Info{Ref: theirs, Size: 6}].IsZero() {
		t.Errorf("the one below sees %v", found)
	}
}

// On many machines the temporary directory is in memory, and on some there is none.
func TestLargeContentWaitsForItsBucketInTheDirectoryOfTheStore(t *testing.T) {
	store := newS3(t, &clock{now: noon})
	t.Setenv("TMPDIR", filepath.Join(t.TempDir(), "missing"))
	content := strings.Repeat("large ", 1<<20)

	ref := put(t, store, content)

	if got, err := read(t, store, ref); err != nil || got != content {
		t.Fatalf("holds %d bytes, %v", len(got), err)
	}
}
