package test

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// helpOf is the help of a verb on one line, however wide the terminal.
func helpOf(t *testing.T, verb ...string) string {
	t.Helper()
	out, _, err := run(t, append(verb, "--help")...)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(strings.Fields(out), " ")
}

func TestTheContainerNamesOnlyWhatTheProgramKnows(t *testing.T) {
	t.Parallel()
	raw, err := os.ReadFile("../deploy/Containerfile")
	if err != nil {
		t.Fatal(err)
	}
	file, help := string(raw), helpOf(t, "serve")
	names := regexp.MustCompile(`POSTRIDER_[A-Z_]+`).FindAllString(file, -1)
	if len(names) < 6 {
		t.Errorf("only %v", names)
	}
	for _, name := range names {
		if !strings.Contains(help, "$"+name) {
			t.Errorf("the program does not read %s", name)
		}
	}
	for _, want := range []string{"CGO_ENABLED=0", "FROM scratch", "USER 65532", `HEALTHCHECK`, `CMD ["/postrider", "health"]`, `ENTRYPOINT ["/postrider"]`} {
		if !strings.Contains(file, want) {
			t.Errorf("%s is missing", want)
		}
	}
	if !strings.Contains(helpOf(t, "health"), "POSTRIDER_ADMIN") {
		t.Error("the health check asks another door than the server opens")
	}
}

func TestTheComposeFileNamesOnlyWhatTheProgramKnows(t *testing.T) {
	t.Parallel()
	raw, err := os.ReadFile("../deploy/compose.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var compose struct {
		Services map[string]struct {
			Image       string
			Environment map[string]string
			Ports       []string
			Volumes     []string
			ReadOnly    bool `yaml:"read_only"`
			User        string
			CapDrop     []string                              `yaml:"cap_drop"`
			DependsOn   map[string]struct{ Condition string } `yaml:"depends_on"`
			Healthcheck struct{ Test []string }
		}
		Volumes map[string]any
	}
	if err := yaml.Unmarshal(raw, &compose); err != nil {
		t.Fatal(err)
	}
	ours, database := compose.Services["postrider"], compose.Services["db"]
	if !ours.ReadOnly || ours.User != "65532:65532" || len(ours.CapDrop) != 1 || ours.DependsOn["db"].Condition != "service_healthy" || len(database.Healthcheck.Test) == 0 {
		t.Errorf("%+v", ours)
	}
	help := helpOf(t, "serve")
	for name := range ours.Environment {
		if !strings.Contains(help, "$"+name) {
			t.Errorf("the program does not read %s", name)
		}
	}
	container, err := os.ReadFile("../deploy/Containerfile")
	if err != nil {
		t.Fatal(err)
	}
	for _, port := range ours.Ports {
		if _, inside, _ := strings.Cut(port, ":"); !strings.Contains(string(container), ":"+inside) {
			t.Errorf("nothing listens on %s in the container", inside)
		}
	}
	for _, volume := range append(ours.Volumes, database.Volumes...) {
		if name, _, _ := strings.Cut(volume, ":"); !hasKey(compose.Volumes, name) {
			t.Errorf("the volume %s is not declared", name)
		}
	}
}

func hasKey(all map[string]any, name string) bool { _, ok := all[name]; return ok }
