package main

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/alecthomas/kong"
)

// completionCommand prints a script that lets a shell complete verbs and flags.
type completionCommand struct {
	Shell string `arg:"" enum:"bash,zsh,fish" help:"bash, zsh or fish."`
}

// Run prints the script.
func (c completionCommand) Run(ctx *kong.Context) error {
	words := completions(ctx.Model.Node)
	switch c.Shell {
	case "bash":
		return printBash(ctx.Stdout, words)
	case "zsh":
		return printZsh(ctx.Stdout, words)
	}
	return printFish(ctx.Stdout, words)
}

// completion is what may follow one verb. The verb of the program itself is empty.
type completion struct {
	verb  string
	verbs []candidate
	flags []candidate
}

type candidate struct{ word, help string }

func completions(root *kong.Node) []completion {
	var all []completion
	var walk func(node *kong.Node)
	walk = func(node *kong.Node) {
		c := completion{verb: commandPath(node)}
		for _, child := range node.Children {
			if !child.Hidden {
				c.verbs = append(c.verbs, candidate{child.Name, child.Help})
			}
		}
		for _, flags := range node.AllFlags(true) {
			for _, flag := range flags {
				c.flags = append(c.flags, candidate{"--" + flag.Name, flag.Help})
			}
		}
		slices.SortFunc(c.flags, func(a, b candidate) int { return strings.Compare(a.word, b.word) })
		all = append(all, c)
		for _, child := range node.Children {
			if !child.Hidden {
				walk(child)
			}
		}
	}
	walk(root)
	return all
}

func (c completion) words() string {
	var words []string
	for _, v := range c.verbs {
		words = append(words, v.word)
	}
	if c.verb == "completion" {
		words = append(words, "bash", "zsh", "fish")
	}
	for _, f := range c.flags {
		words = append(words, f.word)
	}
	return strings.Join(words, " ")
}

func printBash(w io.Writer, all []completion) error {
	var b strings.Builder
	b.WriteString("# Completion of postrider for bash. Use it by: source <(postrider completion bash)\n_postrider() {\n")
	b.WriteString("  local verb='' word i\n  for ((i = 1; i < COMP_CWORD; i++)); do\n    word=${COMP_WORDS[i]}\n    [[ $word == -* ]] && break\n    verb=\"${verb:+$verb }$word\"\n  done\n")
	b.WriteString("  local words\n  case $verb in\n")
	for _, c := range all {
		fmt.Fprintf(&b, "    '%s') words='%s' ;;\n", c.verb, c.words())
	}
	b.WriteString("    *) words='' ;;\n  esac\n  COMPREPLY=($(compgen -W \"$words\" -- \"${COMP_WORDS[COMP_CWORD]}\"))\n}\ncomplete -o default -F _postrider postrider\n")
	_, err := io.WriteString(w, b.String())
	return err
}

func printZsh(w io.Writer, all []completion) error {
	var b strings.Builder
	b.WriteString("#compdef postrider\n# Completion of postrider for zsh. Put it into a directory of $fpath as _postrider.\n_postrider() {\n  local verb='' word\n")
	b.WriteString("  for word in ${words[2,CURRENT-1]}; do\n    [[ $word == -* ]] && break\n    verb=\"${verb:+$verb }$word\"\n  done\n  local -a candidates\n  case $verb in\n")
	for _, c := range all {
		fmt.Fprintf(&b, "    '%s') candidates=(%s) ;;\n", c.verb, c.words())
	}
	b.WriteString("  esac\n  compadd -a candidates\n  [[ ${words[CURRENT]} == -* ]] || _files\n}\nif [[ $funcstack[1] == _postrider ]]; then _postrider \"$@\"; else compdef _postrider postrider; fi\n")
	_, err := io.WriteString(w, b.String())
	return err
}

func printFish(w io.Writer, all []completion) error {
	var b strings.Builder
	b.WriteString("# Completion of postrider for fish.\nfunction __postrider_at\n  set -l words (commandline -opc)\n  set -e words[1]\n  set -l verb\n  for word in $words\n    string match -q -- '-*' $word; and break\n    set -a verb $word\n  end\n  test \"$verb\" = \"$argv\"\nend\n")
	quote := func(text string) string { return "'" + strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(text) + "'" }
	for _, c := range all {
		at := quote("__postrider_at " + c.verb)
		for _, v := range c.verbs {
			fmt.Fprintf(&b, "complete -c postrider -f -n %s -a %s -d %s\n", at, v.word, quote(v.help))
		}
		for _, f := range c.flags {
			fmt.Fprintf(&b, "complete -c postrider -n %s -l %s -d %s\n", at, strings.TrimPrefix(f.word, "--"), quote(f.help))
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}
