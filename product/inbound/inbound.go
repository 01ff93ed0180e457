// Package inbound takes mail from other servers: on port 25, with STARTTLS, for recipients we know.
//
// There are three kinds of them. Return paths of mail we sent: bounce messages and complaints come there, and reach the email they
// are about. Addresses of customers' domains that receive: what comes there is stored as it is, and answered with 250 when it
// would survive a crash; then it is checked (SPF, DKIM, DMARC, ARC, spam), told of, and passed on as the forwarding rules say.
// And a few addresses of the installation itself, for its operator and for statistics of other providers.
//
// Whatever else is offered is refused while the other server can still tell its sender: nothing is ever bounced later.
//
//	Owns     inbound_received, inbound_message, inbound_total, inbound_answer, inbound_forward, inbound_rule, inbound_receiver,
//	         inbound_operator_mail, inbound_dmarc_report, inbound_tls_report
//	Queues   received (one item a message that is to be checked), forward (one a message and rule), received_deleted (for slices above)
//	Emits    email.received
package inbound

import (
	"strings"

	"postrider/mail/spam"
	"postrider/platform/blob"
	"postrider/platform/db"
	"postrider/platform/limit"
	"postrider/platform/queue"
	"postrider/platform/seal"
	"postrider/product/account"
	"postrider/product/delivery"
	"postrider/product/domain"
	"postrider/product/email"
	"postrider/product/logs"
	"postrider/product/plan"
	"postrider/product/suppression"
	"postrider/product/webhook"
	"postrider/world"
)

// Service takes, keeps and passes on mail.
type Service struct {
	world        world.World
	db           *db.DB
	blobs        blob.Store
	accounts     *account.Service
	domains      *domain.Service
	emails       *email.Service
	delivery     *delivery.Service
	webhooks     *webhook.Service
	logs         *logs.Service
	plans        *plan.Service
	suppressions *suppression.Service
	keys         *seal.Keyring
	spam         spam.Engine
	host         string
	node         string
	baseURL      string

	desk     *db.Desk[[]arrival]
	throttle throttle
	holder   *queue.Holder // of the leases on checks and forwards
	turns    turns
	removed  queue.Round // of the removal of old mail
	door     door
}

// Parts are what the service is built on.
type Parts struct {
	Blobs    blob.Store
	Accounts *account.Service
	Domains  *domain.Service
	Emails   *email.Service
	Delivery *delivery.Service
	Webhooks *webhook.Service
	Logs     *logs.Service
	Plans    *plan.Service
	// Suppressions knows who must not be mailed.
	Suppressions *suppression.Service
	Keys         *seal.Keyring
	// Spam judges messages; nil means the built-in engine.
	Spam spam.Engine
	// Node names this process among those that share the database.
	Node string
	// BaseURL is where links to files begin.
	BaseURL string
}

// New returns the service.
func New(w world.World, d *db.DB, parts Parts) *Service {
	s := &Service{world: w, db: d, blobs: parts.Blobs, accounts: parts.Accounts, domains: parts.Domains, emails: parts.Emails, delivery: parts.Delivery,
		webhooks: parts.Webhooks, logs: parts.Logs, plans: parts.Plans,
		suppressions: parts.Suppressions, keys: parts.Keys, spam: parts.Spam, host: parts.Domains.Hosts().MX()[0], node: parts.Node, baseURL: strings.TrimRight(parts.BaseURL, "/"),
		holder: queue.NewHolder(w, d, "inbound/"+parts.Node)}
	s.desk = db.NewDesk(d, storeArrivals)
	s.throttle = throttle{limiter: limit.New(w.Clock, maxPeers)}
	if s.spam == nil {
		s.spam = spam.Builtin{}
	}
	return s
}
