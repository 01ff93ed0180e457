package shape_test

import (
	"strings"
	"testing"
	"time"

	"postrider/product/delivery/internal/shape"
)

func TestTheShippedTableHoldsWhatIsKnown(t *testing.T) {
	t.Parallel()
	providers := shape.Shipped()
	for _, test := range []struct {
		site                  shape.Site
		connections, messages int
		tls                   bool
	}{
		{"mx.example.net", 10, 100, false},
		{"google", 5, 50, true},
		{"yahoo", 10, 20, false},
		{"outlook", 5, 50, false},
		{"acme.mail.protection.outlook.com", 5, 50, false},
		{"acme.mx.microsoft", 5, 50, false},
		{"icloud", 10, 5, false},
		{"comcast", 25, 1000, true},
		{"eu-smtp-inbound-1.mimecast.com", 10, 100, false},
		{"orange", 2, 100, true},
		{"google-sandbox", 5, 50, true},
		{"outlook-sandbox", 5, 50, false},
		{"yahoo-sandbox", 10, 20, false},
	} {
		p := providers.Provider(test.site)
		if p.Connections != test.connections || p.MessagesPerConnection != test.messages || p.TLSRequired() != test.tls {
			t.Errorf("%s: %d connections, %d messages, TLS %v", test.site, p.Connections, p.MessagesPerConnection, p.TLSRequired())
		}
		if p.ConnectsPerMinute != 100 || p.MessagesPerSecond != 100 || p.StartConnections != 2 || p.StartMessages != 20 || time.Duration(p.IdleTimeout) != time.Minute || len(p.Rules) < 4 {
			t.Errorf("%s does not inherit from the default row: %+v", test.site, p)
		}
	}
	if got := strings.Join(providers.Names(), " "); got != "comcast google google-sandbox icloud microsoft365 mimecast orange outlook outlook-sandbox yahoo yahoo-sandbox" {
		t.Error(got)
	}
}

func TestAnOperatorsFileIsLaidOverTheShippedOne(t *testing.T) {
	t.Parallel()
	over := table(t, `
[[provider]]
name = "google"
mx = ["google.com"]
max_connections = 2
one_site = true

[[provider]]
name = "corner"
mx = [".corner.example"]
tls = "required"
`)
	if p := over.Provider("google"); p.Connections != 2 || p.TLSRequired() || p.MessagesPerConnection != 100 {
		t.Errorf("a replaced row keeps nothing of the old one: %+v", p)
	}
	if p := over.Provider("mx.corner.example"); p.Name != "corner" || !p.TLSRequired() || p.Connections != 10 {
		t.Errorf("a new row: %+v", p)
	}
	if over.Provider("mx.aspmx2.googlemail.com").Name != "" || over.Provider("yahoo").Name != "yahoo" || over.Provider("mx.example.net").Connections != 10 {
		t.Error("other rows should be as they were")
	}
	if p := table(t, "[default]\nmax_connections = 3").Provider("yahoo"); p.Connections != 3 {
		t.Errorf("the default row: %+v", p)
	}
}

func TestErrorsInTheFileSayWhatToMend(t *testing.T) {
	t.Parallel()
	row := "[[provider]]\nname = \"acme\"\nmx = [\"acme.test\"]\n"
	rule := row + "[[provider.rule]]\nname = \"r\"\n"
	for _, test := range []struct{ name, file, want string }{
		{"no TOML", "[[provider]\nname = 1", "line 2"},
		{"unknown setting", row + "max_conections = 5", `"provider.max_conections" is not a known setting`},
		{"no name", "[[provider]]\nmx = [\"a.test\"]", "the name \"\" must be unique"},
		{"name with a dot", "[[provider]]\nname = \"a.b\"\nmx = [\"a.test\"]", "the name \"a.b\" must be"},
		{"same name", row + strings.Replace(row, "acme.test", "b.test", 1), "provider 2: the name \"acme\" must be unique"},
		{"no servers", "[[provider]]\nname = \"a\"", "mx must name at least one"},
		{"same servers", row + strings.Replace(row, "\"acme\"", "\"b\"", 1), `provider "b": mx "acme.test" belongs to provider "acme" already`},
		{"empty server", "[[provider]]\nname = \"a\"\nmx = [\"\"]", "mx has an empty name"},
		{"negative limit", row + "max_connections = -1", "max_connections must be between 0 and 100000; it is -1"},
		{"not a number", row + "messages_per_second = nan", "messages_per_second must be between"},
		{"negative shared limit", row + "shared.max_connections = -1", "shared.max_connections must be between"},
		{"negative start", row + "start_connections = -1", "start_connections must be between"},
		{"TLS", row + "tls = \"maybe\"", `tls must be "required" or "opportunistic", not "maybe"`},
		{"duration", row + "idle_timeout = \"a minute\"", "line 4"},
		{"negative duration", row + "idle_timeout = \"-1s\"", "must not be negative"},
		{"default row", "[default]\nmax_connections = -1", "default: max_connections must be"},
		{"action", rule + "code = 421\nfor = \"1m\"\naction = \"sing\"", "rule 1 (r): action must be suspend_path, slow_path"},
		{"nothing to fit", rule + "for = \"1m\"\naction = \"suspend_path\"", "must name what it fits"},
		{"no duration", rule + "code = 421\naction = \"suspend_path\"", "for must say how long"},
		{"threshold", rule + "code = 421\nfor = \"1m\"\nafter = 3\naction = \"suspend_path\"", "after needs within"},
		{"slow to what", rule + "code = 421\nfor = \"1m\"\naction = \"slow_path\"", "slow_path needs a limit"},
		{"expression", rule + "says = '('\nfor = \"1m\"\naction = \"suspend_path\"", "says: error parsing regexp"},
		{"too large", strings.Repeat("#", 1<<20+1), "larger than"},
	} {
		_, err := shape.ReadProviders(test.file)
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, want %q", test.name, err, test.want)
		}
	}
}
