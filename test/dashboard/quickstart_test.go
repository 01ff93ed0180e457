package dashboard

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

func TestQuickStartFlipsByItselfWhenTheFirstCallArrives(t *testing.T) {
	t.Parallel()
	o := begin(t)
	o.look("quickstart-waiting", "/quickstart")
	o.open("/quickstart")
	o.See("Waiting for your first call")
	o.refused("/emails", `{"from":"hello@elsewhere.test","to":"ada@example.net","subject":"Hi","text":"Hi"}`)
	o.See("Refused: 403 invalid_from_address")
	o.See("not registered in this workspace")
	command := o.Eval(`document.querySelector(".listing pre").textContent`)
	run := exec.CommandContext(t.Context(), "bash", "-c", command)
	run.Env = append(os.Environ(), "POSTRIDER_API_KEY="+o.ready.APIKey)
	if out, err := run.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	o.See("Got it: delivered in")
	o.look("quickstart", "/quickstart")
	o.Press("See its timeline")
	o.Wait(`location.pathname.includes("/emails/")`)
	o.See("It works")
	for _, language := range []string{"node", "python", "go", "php", "ruby", "smtp"} {
		o.look("quickstart-"+language, "/quickstart?lang="+language)
	}
}

func TestEverySnippetOfTheQuickStartSendsAnEmail(t *testing.T) {
	t.Parallel()
	o := begin(t)
	for _, one := range []struct {
		language, file string
		command        []string
	}{{"node", "send.mjs", []string{"node"}}, {"python", "send.py", []string{"python3"}}, {"go", "main.go", []string{"go", "run"}}, {"php", "send.php", []string{"php"}}, {"ruby", "send.rb", []string{"ruby"}}} {
		o.open("/quickstart?lang=" + one.language)
		code := o.Eval(`document.querySelector(".listing pre").textContent`)
		if _, err := exec.LookPath(one.command[0]); err != nil {
			continue
		}
		file := filepath.Join(t.TempDir(), one.file)
		if err := os.WriteFile(file, []byte(code), 0o600); err != nil {
			t.Fatal(err)
		}
		run := exec.CommandContext(t.Context(), one.command[0], append(one.command[1:], file)...)
		run.Env = append(os.Environ(), "POSTRIDER_API_KEY="+o.ready.APIKey)
		if out, err := run.CombinedOutput(); err != nil {
			t.Errorf("%s: %v %s", one.language, err, out)
		}
	}
}
