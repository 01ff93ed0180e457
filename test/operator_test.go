package test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const longSecret = "a secret of thirty-two or more letters"

func TestAMistakeInAFlagIsToldBeforeAnythingIsMade(t *testing.T) {
	t.Parallel()
	absent := filepath.Join(t.TempDir(), "absent")
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"--database-url", "mysql://u:sesame@127.0.0.1/x", "--secret", longSecret}, "--database-url must begin with postgres://"},
		{[]string{"--blob-url", "https://KEY:sesame@127.0.0.1/bucket"}, "--blob-url must begin with s3://"},
		{[]string{"--blob-url", "s3://127.0.0.1/bucket"}, "blob URL has no access key"},
		{[]string{"--database-url", "postgres://127.0.0.1/x"}, "set POSTRIDER_SECRET"},
		{[]string{"--secret", "sesame"}, "POSTRIDER_SECRET, or --secret: master secret must have 32"},
		{[]string{"--http", "127.0.0.1"}, "--http 127.0.0.1: missing port in address; write it as host:port"},
		{[]string{"--http", "127.0.0.1:7", "--admin", "127.0.0.1:7"}, "--http and --admin have the same address 127.0.0.1:7"},
		{[]string{"--roles", ""}, "--roles : must name at least one of"},
		{[]string{"--plans", absent}, "--plans: open " + absent},
		{[]string{"--providers", absent}, "--providers: open " + absent},
		{[]string{"--sources", absent}, "--sources: open " + absent},
		{[]string{"--domain-connect-key", absent}, "--domain-connect-key: open " + absent},
		{[]string{"--tls-cert", absent, "--tls-key", absent}, "--tls-cert " + absent + ", --tls-key " + absent},
		{[]string{"--acme-email", "ops@example.org", "--acme-roots", absent}, "--acme-roots: open " + absent},
		{[]string{"--spam-engine", "rspamd"}, "--spam-engine rspamd: needs --spam-address"},
		{[]string{"--otlp-endpoint", "collector"}, "--otlp-endpoint collector: must be an address"},
		{[]string{"--acme-ca", "letsencrypt"}, "--acme-ca letsencrypt: must be the address of a directory"},
		{[]string{"--smtp-port", "0"}, "--smtp-port 0: must be a port"},
		{[]string{"--resolver-validates"}, "--resolver-validates goes with --resolver"},
		{[]string{"--resolver", "nonsense"}, "--resolver nonsense: must be host:port, such as 127.0.0.1:53"},
		{[]string{"--resolver", "127.0.0.1"}, "--resolver 127.0.0.1: must be host:port, such as 127.0.0.1:53"},
		{[]string{"--resolver", "127.0.0.1:dns"}, "--resolver 127.0.0.1:dns: must be host:port, such as 127.0.0.1:53"},
		{[]string{"--blob-url", "s3://KEY:sesame@127.0.0.1:1/b"}, "blob URL: the bucket b: Bucket name cannot be shorter"},
		{[]string{"--cloudflare-url", "cloudflare"}, "--cloudflare-url cloudflare: must be an address such as https://api.cloudflare.com/client/v4"},
		{[]string{"--probe", "big provider"}, "--probe big provider: must be a domain, such as gmail.com"},
		{[]string{"--blocklists", "zen spamhaus"}, "--blocklists zen spamhaus: must be names of DNS zones, such as zen.spamhaus.org"},
		{[]string{"--private-hosts", "crm.intranet.example,10.0.0.0/8"}, "--private-hosts 10.0.0.0/8: must be host names in lower case or single addresses"},
		{[]string{"--private-hosts", "http://crm.intranet.example"}, "--private-hosts http://crm.intranet.example: must be host names"},
		{[]string{"--acme-email", "ops"}, "--acme-email ops: must be an address, such as ops@example.org"},
	} {
		data := filepath.Join(t.TempDir(), "data")
		_, stderr, err := run(t, append([]string{"serve", "--data", data, "--mx", noDoor}, c.args...)...)
		if code(err) != 2 || !strings.Contains(stderr, c.want) || strings.Contains(stderr, "sesame") {
			t.Errorf("%v: ended with %d and %q, want %q", c.args, code(err), stderr, c.want)
		}
		if _, err := os.Stat(filepath.Join(data, "blobs")); err == nil {
			t.Errorf("%v: files were made all the same", c.args)
		}
	}
}

func TestAStorageThatCannotBeUsedIsNamedWithWhatToDo(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	below := filepath.Join(file, "data")
	for _, c := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{"--data", below}, 2, "data directory: mkdir " + file + ": not a directory; name one with --data that the user who runs this can make and write"},
		{[]string{"--data", "/proc"}, 2, "name one with --data that"},
		{[]string{"--data", t.TempDir(), "--secret", longSecret, "--database-url", "postgres://u:sesame@127.0.0.1:1/x"}, 1,
			"connection refused; look whether PostgreSQL runs, and whether --database-url names it"},
	} {
		_, stderr, err := run(t, append([]string{"serve", "--mx", noDoor}, c.args...)...)
		if code(err) != c.code || !strings.Contains(stderr, c.want) || strings.Contains(stderr, "sesame") {
			t.Errorf("%v: ended with %d and %q, want %q", c.args, code(err), stderr, c.want)
		}
	}
}

func TestAProcessOpensOnlyTheDoorsOfItsRoles(t *testing.T) {
	t.Parallel()
	for role, want := range map[string]string{"api": "http", "smtp": "submission submissions", "mx": "mx", "worker": ""} {
		p := start(t, "serve", "--data", t.TempDir(), "--http", "127.0.0.1:0", "--submission", "127.0.0.1:0", "--submissions", "127.0.0.1:0", "--mx", "127.0.0.1:0",
			"--insecure-test-network", "--roles", role)
		var open []string
		for _, door := range [][2]string{{"http", p.HTTP}, {"submission", p.Submission}, {"submissions", p.Submissions}, {"mx", p.MX}} {
			if door[1] != "" {
				open = append(open, door[0])
			}
		}
		if got := strings.Join(open, " "); got != want {
			t.Errorf("%s opens %q, want %q", role, got, want)
		}
		p.kill()
	}
}

func TestVerbsNameTheFlagThatIsWrong(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	create := []string{"workspace", "create", "--data", data, "--name", "Acme", "--owner-email"}
	var made struct {
		WorkspaceID string `json:"workspace_id"`
	}
	stdout, stderr, err := run(t, append(create, "olga@acme.test", "--owner-password", "correct horse battery", "--json")...)
	if err != nil || json.Unmarshal([]byte(stdout), &made) != nil {
		t.Fatalf("%v: %s", err, stderr)
	}
	for _, c := range []struct {
		args []string
		want string
	}{
		{append(create, "olga", "--owner-password", "short"), "--owner-email: Must be an email address: the address needs an @ sign. --owner-password: Must have at least"},
		{append(create, "olga@acme.test", "--owner-password", "correct horse battery", "--plan", "gold"), `--plan: there is no plan "gold"`},
		{[]string{"plan", "set", "--data", data, "--workspace", made.WorkspaceID, "--plan", "gold"}, `--plan: there is no plan "gold"`},
		{[]string{"key", "create", "--data", data, "--workspace", made.WorkspaceID, "--preset", "all"}, "--preset: Must be full_access"},
	} {
		if _, stderr, err := run(t, c.args...); code(err) != 2 || !strings.Contains(stderr, c.want) {
			t.Errorf("%v: ended with %d and %q, want %q", c.args, code(err), stderr, c.want)
		}
	}
}

func TestAVariableThatIsSetToNothingNamesNoFile(t *testing.T) {
	t.Parallel()
	_, stderr, err := runBy(t, []string{"env", "POSTRIDER_TLS_CERT=", "POSTRIDER_PLANS=", "POSTRIDER_ACME_ROOTS="}, "serve", "--data", t.TempDir(), "--http", "127.0.0.1:0", "--mx", noDoor)
	if code(err) != 1 || !strings.Contains(stderr, "--mx") {
		t.Errorf("%d %q", code(err), stderr)
	}
	_, stderr, err = runBy(t, []string{"env", "POSTRIDER_DATA="}, "serve", "--http", "127.0.0.1:0", "--mx", noDoor)
	if code(err) != 2 || !strings.Contains(stderr, "--data must name a directory") {
		t.Errorf("%d %q", code(err), stderr)
	}
}

func TestSecretsInAConfigurationAreNotRepeated(t *testing.T) {
	t.Parallel()
	for _, content := range []string{`secret = ["sesame"]`, `database-url = ["postgres://u:sesame@db/x"]`, `blob-url = ["s3://k:sesame@h/b"]`, `spam-password = ["sesame"]`} {
		file := filepath.Join(t.TempDir(), "postrider.toml")
		if err := os.WriteFile(file, []byte(content+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		_, stderr, err := run(t, "serve", "--data", t.TempDir(), "--config", file, "--mx", noDoor)
		if code(err) != 2 || strings.Contains(stderr, "sesame") || !strings.Contains(stderr, "must be a text in quotes") {
			t.Errorf("%s: %d %q", content, code(err), stderr)
		}
	}
}

func TestVerbsOnAWorkspaceMakeNoInstallationOfTheirOwn(t *testing.T) {
	t.Parallel()
	const nobody = "0193a1e0-2222-7000-8000-0000000000e1"
	for _, verb := range [][]string{{"key", "create", "--workspace", nobody}, {"plan", "set", "--plan", "pro", "--workspace", nobody}, {"doctor", "--probe", "", "--blocklists", ""}} {
		data := filepath.Join(t.TempDir(), "data")
		stdout, stderr, err := run(t, append(verb, "--data", data)...)
		if code(err) != 1 || !strings.Contains(stdout+stderr, "there is no database in "+data) {
			t.Errorf("%v: %d %q %q", verb, code(err), stdout, stderr)
		}
		if _, err := os.Stat(data); err == nil {
			t.Errorf("%v has made %s", verb, data)
		}
	}
	data := t.TempDir()
	if _, stderr, err := run(t, "migrate", "--data", data); err != nil {
		t.Fatal(stderr)
	}
	for _, verb := range []string{"key create", "plan set --plan pro"} {
		stdout, stderr, err := run(t, append(strings.Fields(verb), "--data", data, "--workspace", nobody)...)
		if code(err) != 1 || !strings.Contains(stderr, "there is no workspace "+nobody) {
			t.Errorf("%s: %d %q %q", verb, code(err), stdout, stderr)
		}
		if _, stderr, err := run(t, append(strings.Fields(verb), "--data", data, "--workspace", "acme")...); code(err) != 2 || !strings.Contains(stderr, "--workspace acme: must be the id") {
			t.Errorf("%s: %d %q", verb, code(err), stderr)
		}
	}
}

func TestSetupKeepsTheSecretOfTheFileThatItReplaces(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "postrider.toml")
	secret := func() string {
		raw, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		return regexp.MustCompile(`(?m)^secret = .*$`).FindString(string(raw))
	}
	args := []string{"--hostname", "mail.postrider.test", "--address", "127.0.0.1", "--resolver", "127.0.0.1:1", "--file", file, "--unit", "", "--user", "nobody-at-all",
		"--data", filepath.Join(t.TempDir(), "data"), "--database-url", "postgres://127.0.0.1/x"}
	if _, stderr, err := setup(t, args...); err != nil {
		t.Fatalf("%v %s", err, stderr)
	}
	before := secret()
	if again, stderr, err := setup(t, args...); err != nil || again.Files[0].Written {
		t.Errorf("the same again: %+v %v %s", again.Files, err, stderr)
	}
	if _, stderr, err := setup(t, append(args, "--hello", "mx2.mail.postrider.test", "--force")...); err != nil {
		t.Fatalf("%v %s", err, stderr)
	}
	if after := secret(); before == "" || after != before {
		t.Errorf("%q became %q: nobody can open what the database holds", before, after)
	}

	// The same for an installation whose data was in its directory, and has been moved.
	data, elsewhere := t.TempDir(), filepath.Join(t.TempDir(), "postrider.toml")
	if err := os.WriteFile(filepath.Join(data, "secret"), []byte(longSecret+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, stderr, err := setup(t, append(args, "--data", data, "--file", elsewhere)...); err != nil {
		t.Fatalf("%v %s", err, stderr)
	}
	file = elsewhere
	if after := secret(); !strings.Contains(after, longSecret) {
		t.Errorf("the secret of the moved data became %q", after)
	}
}

// told finds commands in a document: the verb and what follows on the line.
var told = regexp.MustCompile("(?m)(?:^|[`(\\s])(?:\\./)?postrider ((?:workspace|plan|key) [a-z]+|[a-z]+)((?: [^`\n|#]*)?)")

func TestDocumentsNameOnlyVerbsAndFlagsThatThereAre(t *testing.T) {
	t.Parallel()
	known := verbs(t)
	help := map[string]string{}
	for _, verb := range known {
		help[verb] = helpOf(t, strings.Fields(verb)...)
	}
	var files []string
	for _, pattern := range []string{"../README.md", "../docs/*.md", "../docs/migrating/*.md", "../deploy/compose.yaml", "../deploy/postrider.service"} {
		found, err := filepath.Glob(pattern)
		if err != nil || len(found) == 0 {
			t.Fatalf("%s: %v", pattern, err)
		}
		files = append(files, found...)
	}
	flag, seen := regexp.MustCompile(`(?:^| )(--[a-z][a-z0-9-]*)`), 0
	for _, file := range files {
		raw, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, command := range told.FindAllStringSubmatch(string(raw), -1) {
			if !slices.Contains(known, command[1]) {
				continue // a sentence about the program
			}
			for _, named := range flag.FindAllStringSubmatch(command[2], -1) {
				seen++
				if !strings.Contains(help[command[1]], named[1]+"=") && !strings.Contains(help[command[1]], named[1]+" ") {
					t.Errorf("%s: postrider %s has no %s", file, command[1], named[1])
				}
			}
		}
	}
	if seen < 10 {
		t.Errorf("only %d flags were found", seen)
	}
}
