package main

import (
	"postrider/mail/spam"
	"postrider/world"
)

// spamFlags name the engine that judges messages.
type spamFlags struct {
	Engine   string `help:"Who checks messages for spam: builtin, rspamd or spamassassin." enum:"builtin,rspamd,spamassassin" default:"builtin" env:"POSTRIDER_SPAM_ENGINE"`
	Address  string `help:"Host and port, or socket, of rspamd or spamd." env:"POSTRIDER_SPAM_ADDRESS"`
	Password string `help:"Password of rspamd, if it has one." env:"POSTRIDER_SPAM_PASSWORD"`
}

func (f spamFlags) engine(w world.World) (spam.Engine, error) {
	if f.Engine == "builtin" {
		return spam.Builtin{}, nil
	}
	if f.Address == "" {
		return nil, mistake("spam-engine", f.Engine, "needs --spam-address, such as 127.0.0.1:11333 for rspamd or 127.0.0.1:783 for spamd")
	}
	if f.Engine == "rspamd" {
		return spam.Rspamd{Address: f.Address, Password: f.Password, Dialer: w.Dialer, Clock: w.Clock}, nil
	}
	return &spam.SpamAssassin{Address: f.Address, Dialer: w.Dialer, Clock: w.Clock}, nil
}
