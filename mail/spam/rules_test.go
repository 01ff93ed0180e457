package spam_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"postrider/mail/spam"
)

const plain = "Hello Bob, the printer on the second floor works again. The new paper is in the cupboard next to it, and Ann has the key. " +
	"Please tell the others, and write to me if it stops again before Friday."

// ordinary is a message that no rule applies to.
func ordinary() spam.Message {
	return spam.Message{
		From: "Ann Lee <ann@acme.com>", To: []string{"bob@example.net"}, Subject: "The printer works again", Text: plain,
		HTML: "<html><body><p>" + plain + "</p></body></html>", Headers: map[string]string{},
		Authentication: spam.Authentication{Domain: "acme.com", Verified: true, SPF: "pass", DKIM: "pass", DMARC: "pass"},
	}
}

// change makes an ordinary message a little less so.
type change func(*spam.Message)

func from(s string) change    { return func(m *spam.Message) { m.From = s } }
func subject(s string) change { return func(m *spam.Message) { m.Subject = s } }

// says adds a sentence to both parts.
func says(s string) change {
	return func(m *spam.Message) {
		m.Text += "\n" + s
		m.HTML = strings.Replace(m.HTML, "</body>", "<p>"+s+"</p></body>", 1)
	}
}

// html adds markup to the page, page replaces it, only makes the plain text all there is.
func html(s string) change {
	return func(m *spam.Message) { m.HTML = strings.Replace(m.HTML, "</body>", s+"</body>", 1) }
}
func page(s string) change { return func(m *spam.Message) { m.HTML, m.Text = s, "" } }
func only(s string) change { return func(m *spam.Message) { m.Text, m.HTML = s, "" } }
func text(s string) change { return func(m *spam.Message) { m.Text = s } }
func link(href string) change {
	return html(`<a href="` + href + `">the manual</a>`)
}
func shown(href, text string) change { return html(`<a href="` + href + `">` + text + `</a>`) }
func header(name, value string) change {
	return func(m *spam.Message) { m.Headers[name] = value }
}
func raw(s string) change { return func(m *spam.Message) { m.Raw = []byte(s) } }
func to(n int) change {
	return func(m *spam.Message) { m.To = slices.Repeat([]string{"bob@example.net"}, n) }
}
func proof(edit func(*spam.Authentication)) change {
	return func(m *spam.Message) { edit(&m.Authentication) }
}
func all(changes ...change) change {
	return func(m *spam.Message) {
		for _, c := range changes {
			c(m)
		}
	}
}

// smallPicture cannot hold what a message says.
const smallPicture = `<img src="https://acme.com/logo.png" width="120" height="36" alt="Acme">`

const goodHeader = "From: Ann <ann@acme.com>\r\nDate: Sat, 14 Nov 2026 09:12:00 +0000\r\nMessage-ID: <1@acme.com>\r\nSubject: x\r\n"

// ruleCases has for each rule a message that it applies to, and one close by that it does not apply to.
var ruleCases = []struct {
	id        string
	hit, miss change
}{
	{"SUBJECT_EMPTY", subject("  "), subject("Hi")},
	{"SUBJECT_ALL_CAPS", subject("THE PRINTER WORKS AGAIN"), subject("NASA and ESA go to Mars")},
	{"SUBJECT_ALL_CAPS", subject("ПРИНТЕР СНОВА РАБОТАЕТ"), subject("プリンターが直りました")},
	{"SUBJECT_PUNCTUATION", subject("It works!!"), subject("It works! Really?")},
	{"SUBJECT_FAKE_REPLY", subject("Re: The printer"), all(subject("RE: The printer"), header("References", "<1@example.net>"))},
	{"SUBJECT_FAKE_REPLY", subject("AW: Drucker"), subject("Recycling: the printer")},
	{"SUBJECT_TOO_LONG", subject(strings.Repeat("printer ", 16)), subject(strings.Repeat("プリンター", 20))},
	{"SUBJECT_MONEY", subject("$$$ for your printer"), subject("Your receipt for $1,249.00")},
	{"SUBJECT_MONEY", subject("A sum of €2,500,000 for you"), subject("Invoice 2026-1249 over 1.249,00 €")},
	{"SUBJECT_EMOJI", subject("🎉🎉🎉 It works"), subject("🎉 It works ❤")},
	{"SUBJECT_SPACED_LETTERS", subject("F R E E printer"), subject("Made in the U.S.A. by a team")},
	{"SUBJECT_SPACED_LETTERS", subject("F.R.E.E printer"), subject("R.S.V.P. by Friday")},
	{"SUBJECT_SPACED_LETTERS", subject("免 费 赠 送"), subject("한 번 더 볼 수 있는 것")},
	{"SUBJECT_WIDE_GAP", subject("Printer                x83hd"), subject("Printer  works")},
	{"SUBJECT_UNDECODED", subject("=?utf-8?B?SGVsbG8=?="), subject("a =? b")},
	{"SUBJECT_SPAM_PHRASE", subject("You have won a printer"), subject("The team has won the cup")},

	{"GTUBE", says(gtube), says(gtube[:40])},
	{"PHRASES_ADVANCE_FEE", says("He left ten million dollars and no next of kin."), says("The team has a million reasons.")},
	{"PHRASES_PRIZE", text(plain + " You have won."), text(plain + " We have won.")},
	{"PHRASES_PRIZE", says("You've won a printer."), says("Our design won an award.")},
	{"PHRASES_PRIZE", says("おめでとうございます。当選しました。"), says("当選者は後日発表します。")},
	{"PHRASES_PRESSURE", says("Act now or it is gone."), says("They act. Now it works. Click here to see.")},
	{"PHRASES_PHARMACY", says("We have viagra in stock."), says("We have a specialist in stock.")},
	{"PHRASES_CRYPTO", says("Double your Bitcoin with guaranteed returns."), says("The price of bitcoin fell.")},
	{"PHRASES_CREDENTIALS", says("Your account will be suspended."), says("Your account is ready.")},
	{"PHRASES_CREDENTIALS", says("Ihr Konto wurde gesperrt."), says("Ihr Konto ist bereit.")},
	{"PHRASES_LOAN", says("Get an instant loan, no credit check."), says("The printer is on loan.")},
	{"PHRASES_INCOME", says("Work from home and be your own boss."), says("I work from my desk.")},
	{"PHRASES_GAMBLING", says("Free spins in our online casino."), says("The wheel spins freely.")},
	{"PHRASES_ADULT", says("Hot singles in your area."), says("Singles and albums are in the shop.")},
	{"PHRASES_DIET", says("Burn fat without dieting."), says("The oven burns.")},
	{"PHRASES_PROMOTION", says("We will rank your website on the first page of Google."), says("See the first page of the manual.")},
	{"PHRASES_EXTORTION", says("I recorded you with your webcam."), says("The meeting was recorded for you.")},
	{"PHRASES_EXTORTION", says("Your webcam made a video. I send the video to all your contacts."), says("Import all your contacts in one go.")},
	{"PHRASES_EXTORTION", says("I know your password."), says("Try your webcam before the call.")},
	{"PHRASES_DISCLAIMER", says("This is not spam."), says("This went to the spam folder.")},
	{"PHRASES_ADVANCE_FEE", says("The beneficiary must keep utmost confidentiality."), says("You added a new beneficiary to your account.")},
	{"GREETING_IMPERSONAL", says("Dear friend,"), says("My dear Watson,")},
	{"GREETING_IMPERSONAL", says("My beloved, I write from a hospital."), says("Our beloved coffee is back.")},
	{"BODY_EMPTY", page("<p> </p>"), page(`<img src="https://acme.com/a.png" alt="">`)},
	{"BODY_EMPTY", page(smallPicture), page(smallPicture + "<p>Yes.</p>")},
	{"BODY_ONLY_LINK", page(smallPicture + `<a href="https://acme.com/a">Look here</a>`), page(smallPicture + `<p>Look here</p>`)},
	{"BODY_ONLY_LINK", only("Look: https://acme.com/a"), only(plain + " https://acme.com/a")},
	{"BODY_ONLY_LINK", page(`<a href="https://acme.com/a">Look here</a>`), page(`<p>Look here</p>`)},
	{"BODY_SHOUTING", only(strings.ToUpper(plain)), only(plain + " NASA ESA")},
	{"BODY_OUTCRIES", says("Yes!! No?! Yes!!!"), says("Yes! No? Yes!!")},
	{"LOOK_ALIKE_LETTERS", says("Open your pаypal account."), says("Отправьте SMSку или «привет» в PayPal.")},
	{"LOOK_ALIKE_LETTERS", says("Open your paypаl's page."), says("Новый чехол для iPhone'а и фото в Facebook’е.")},
	{"LETTERS_AS_DIGITS", says("Cheap v1agra."), says("Take the A4 and the mp3 of v1beta.")},
	{"FANCY_LETTERS", says("𝐅𝐫𝐞𝐞 𝐩𝐚𝐩𝐞𝐫"), says("ℝ and Ω are letters; ＡＢＣＤＥ in Tokyo")},
	{"INVISIBLE_CHARACTERS", says("pa\u200bss\u200bwo\u200brd"), says("می\u200cخواهم می\u200cروم می\u200cگویم 👩\u200d💻 Strom\u00adrech\u00adnung\u00adstext")},
	{"INVISIBLE_CHARACTERS", says("pa\u200b\u00adss\u200b\u00adwo\u200b\u00adrd"), says("Strom\u00adrech\u00adnung\u00adstext")},
	{"DIRECTION_OVERRIDE", says("invoice\u202efdp.exe"), says("\u2067שלום\u2069 and \u200fعربي")},
	{"MERGE_FIELD", says("Hello {{ first_name }},"), says("Write {name} or 100% or {{{ UNSUBSCRIBE_URL }}}.")},
	{"MERGE_FIELD", subject("Hi %FIRSTNAME%"), subject("100% of 50% off")},
	{"MERGE_FIELD", says("Hello *|FNAME|*,"), says("Hello *Bob*,")},
	{"PLACEHOLDER_TEXT", says("Lorem ipsum dolor sit amet."), says("The placebo effect.")},
	{"LONG_TOKENS", says(strings.Repeat("aB3x", 30)), says("https://acme.com/" + strings.Repeat("aB3x", 30))},
	{"GARBLED_TEXT", says("MÃ¼nchen"), says("München, NÃO")},
	{"GARBLED_TEXT", html("<p>\xff</p>"), all(text("a"+strings.Repeat("ü", 1<<20)), html("<p>"+strings.Repeat("ü", 1<<20)+"</p>"))},

	{"HTML_NO_TEXT_PART", text(""), only(plain)},
	{"PARTS_DIFFER", text(strings.Repeat("one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen ", 2) +
		"seventeen eighteen nineteen twenty thirty forty fifty"), text(strings.ReplaceAll(plain, "printer", "scanner"))},
	{"IMAGE_ONLY", page(`<img src="https://acme.com/a.png" alt="Sale">`), html(`<img src="https://acme.com/a.png" alt="Sale">`)},
	{"IMAGE_ONLY", page(smallPicture + `<img src="https://acme.com/sale.png" width="100%" alt="">`), page(smallPicture + `<p>Your code is 482913. It expires in ten minutes.</p>`)},
	{"IMAGE_ONLY", page(strings.Repeat(smallPicture, 4)), page(smallPicture + `<p>Thank you, Ann.</p>` + smallPicture)},
	{"IMAGE_HEAVY", html(strings.Repeat(`<img src="a.png" alt="">`, 5)), html(`<img src="a.png" alt="">` + strings.Repeat(`<img src="t.gif" width="1">`, 5))},
	{"IMAGE_NO_ALT", html(`<img src="https://acme.com/a.png">`), html(`<img src="https://acme.com/a.png" alt=""><img src="t.gif" width="1" height="1">`)},
	{"IMAGE_IN_HTML", html(`<img src="data:image/png;base64,AAAA" alt="">`), html(`<img src="cid:logo" alt="">`)},
	{"HTML_CLIPPED", html("<!--" + strings.Repeat("x", 103<<10) + "-->"), html("<!--" + strings.Repeat("x", 90<<10) + "-->")},
	{"HTML_HUGE", html("<!--" + strings.Repeat("x", 1<<20) + "-->"), html("<!--" + strings.Repeat("x", 1<<19) + "-->")},
	{"HTML_SCRIPT", html("<script>alert(1)</script>"), html("<!-- <script> --><p>&lt;script&gt;</p>")},
	{"HTML_EVENT_HANDLER", html(`<p onclick="x()">a</p>`), html(`<p one="1" on="2">a</p>`)},
	{"HTML_FORM", html(`<form><input name="q"></form>`), html(`<input type="hidden" name="q">`)},
	{"HTML_FRAME", html(`<iframe src="https://acme.com"></iframe>`), html(`<table frame="box"></table>`)},
	{"HTML_PLUGIN", html(`<object data="a.swf"></object>`), html(`<p>object</p>`)},
	{"HTML_REFRESH", html(`<meta http-equiv="Refresh" content="0;url=https://acme.com">`), html(`<meta http-equiv="Content-Type" content="text/html">`)},
	{"HTML_BASE", html(`<base href="https://acme.com/">`), html(`<basefont>`)},
	{"HTML_BROKEN", html("<div><div></span><b>"), html("<p>one<p>two<ul><li>a<li>b</ul><br></br></p>")},
	{"HTML_DEEP", html(strings.Repeat("<div>", 150) + strings.Repeat("</div>", 150)), html(strings.Repeat("<table><tr><td>", 20) + "x" + strings.Repeat("</table>", 20))},
	{"HTML_DEEP", html(strings.Repeat("<b>", 400)), html("<table>" + strings.Repeat("<tr><td>a<td>b", 300) + "</table>" + strings.Repeat("<p>a", 300))},
	{"HIDDEN_TEXT", html(`<div style="display:none">` + plain + `</div>`), html(`<div style="display:block">` + plain + `</div>`)},
	{"HIDDEN_TEXT", html(`<div style="color:#FFFFFF">` + plain + `</div>`), html(`<div style="color:#fff;background-color:#036">` + plain + `</div>`)},
	{"HIDDEN_TEXT", html(`<font color="white">` + plain + `</font>`), html(`<table bgcolor="navy"><tr><td><font color="white">` + plain + `</font></table>`)},
	{"HIDDEN_TEXT", html(`<td style="font-size:0px">` + plain + `</td>`), html(`<td style="font-size:0"><span style="font-size:14px">` + plain + `</span></td>`)},
	{"HIDDEN_TEXT", html(`<div style="background-color:rgba(255,255,255,0.95)"><p style="color:#fff">` + plain + `</p></div>`),
		html(`<div style="background-color:rgba(255,255,255,0.1)"><p style="color:#fff">` + plain + `</p></div>`)},
	{"HIDDEN_TEXT", html(`<div style="background-color:rgb(255 255 255 / 95%)"><p style="color:#fff">` + plain + `</p></div>`),
		html(`<div style="background-color:rgb(255 255 255 / 10%)"><p style="color:#fff">` + plain + `</p></div>`)},
	{"HIDDEN_TEXT", html(`<p style="color:rgba(255,255,255,0.4)">` + plain + `</p>`), html(`<p style="color:rgba(0,0,0,0.4)">` + plain + `</p>`)},
	{"HIDDEN_TEXT", html(`<p style="font-size:0vw">` + plain + `</p>`), html(`<p style="font-size:0.2in">` + plain + `</p>`)},
	{"HIDDEN_TEXT", html(`<p style="visibility:hidden">` + plain + `</p>`), html(`<p style="visibility:hidden"><i style="visibility:visible">` + plain + `</i></p>`)},
	{"HIDDEN_TEXT", html(`<p style="max-height:0;overflow:hidden">` + plain + `</p>`), html(`<p style="max-height:0px">` + plain + `</p>`)},
	{"HIDDEN_TEXT", html(`<p style="color:rgba(0,0,0,0)">` + plain + `</p>`), html(`<style>.d{background:#000}</style><p class="d" style="color:#fff">` + plain + `</p>`)},
	{"HIDDEN_TEXT", html(`<style>.m{color:red}</style><div class="m" style="display:none">` + plain + `</div>`),
		html(`<style>@media (max-width:600px){.m{display:block!important}}</style><div class="a m" style="display:none;font-size:0"><p>` + plain + `</p></div>`)},
	{"HIDDEN_TEXT", html(`<p style="opacity:0.01">` + plain + `</p>`), html(`<p style="opacity:0.9">` + plain + `</p>`)},
	{"HIDDEN_TEXT", html(`<p style="text-indent:-9999px">` + plain + `</p>`), html(`<p style="text-indent:-20px">` + plain + `</p>`)},
	{"HIDDEN_TEXT", html(`<p style="font-size:0pt">` + plain + `</p>`), html(`<p style="font-size:0"><b style="font-size:1rem">` + plain + `</b></p>`)},
	{"HIDDEN_TEXT", html(`<p style="font-size:1%">` + plain + `</p>`), html(`<p style="font-size:80%">` + plain + `</p>`)},
	{"HIDDEN_TEXT", html(`<p style="color:rgb(250, 250, 250)">` + plain + `</p>`), html(`<p style="color:rgb(90,90,90)">` + plain + `</p>`)},
	{"HIDDEN_TEXT", html(`<p style="COLOR: WHITE !important">` + plain + `</p>`), html(`<p style="color:white;background-image:url(a.png)">` + plain + `</p>`)},
	{"HIDDEN_TEXT", html(`<td bgcolor="#000000">` + plain + `</td>`), html(`<td background="a.png" style="color:#fff">` + plain + `</td>`)},
	{"HIDDEN_TEXT", html(`<p style="color:#fff;background:transparent">` + plain + `</p>`), html(`<p style="color:#fff;background:#123456 url(a.png)">` + plain + `</p>`)},
	{"HIDDEN_TEXT", html(`<td bgcolor="#000"><b>` + plain + `</b></td>`), html(`<td bgcolor="#000"><a href="https://acme.com/">` + plain + `</a></td>`)},
	{"HIDDEN_TEXT", func(m *spam.Message) {
		m.HTML = `<div style="display:none">` + strings.Repeat(plain, 3) + `</div>` + m.HTML
	}, func(m *spam.Message) {
		m.HTML = `<div style="display:none">The printer works again. Here is where to find the paper, who has the key, and what to do when it stops.` + strings.Repeat("&zwnj;&nbsp;", 200) + `</div>` + m.HTML
	}},
	{"HIDDEN_TEXT_MOST", html(`<p hidden>` + plain + plain + `</p>`), html(`<p hidden>` + plain[:100] + `</p>`)},
	{"TINY_TEXT", html(`<p style="font-size:.3vw">` + plain + `</p>`), html(`<p style="font-size:3vw">` + plain + `</p>`)},
	{"TINY_TEXT", html(`<p style="font-size:2px">` + plain + `</p>`), html(`<p style="font-size:0.6em">` + plain + `</p>`)},
	{"TINY_TEXT", html(`<p style="font-size:2pt">` + plain + `</p>`), html(`<p style="font-size:small">` + plain + `</p>`)},
	{"COMMENT_STUFFING", html("<!--" + strings.Repeat("word ", 2000) + "-->"), html("<!--[if mso]>" + strings.Repeat("word ", 2000) + "<![endif]-->")},
	{"SPLIT_WORDS", html(strings.Repeat("<p>fr<!-- -->ee</p>", 3)), html(strings.Repeat("<p>2<!-- -->x paper for 12<!-- -->EUR</p>", 3))},
	{"SPLIT_WORDS", html("<p>via<!-- a -->gra cia<b></b>lis xan<!---->ax</p>"), html("<p><b>V</b>ia <!-- a -->gra <i>A</i>nna <b>B</b>en</p>")},
	{"LETTERS_AS_REFERENCES", html("<p>" + strings.Repeat("&#118;&#x69;", 10) + "</p>"), html("<p>" + strings.Repeat("&#252;&#8217;&amp;", 20) + "</p>")},

	{"LINK_TEXT_OTHER_ADDRESS", shown("https://evil.example/x", "https://bank.com/login"), shown("https://click.bank.com/x", "https://www.bank.com/login")},
	{"LINK_TEXT_OTHER_DOMAIN", shown("https://evil.example/x", "www.bank.com"), shown("https://github.com/a/readme.md", "readme.md")},
	{"LINK_TEXT_OTHER_DOMAIN", shown("https://evil.example/x", "bank.com"), shown("mailto:ann@acme.com", "bank.com")},
	{"LINK_TEXT_OTHER_DOMAIN", shown("https://evil.example/x", "www.bank.com!"), shown("https://acme.com/", "www.acme.com!")},
	{"LINK_TEXT_OTHER_DOMAIN", shown("https://evil.example/x", "<div>bank.com</div>"), shown("https://acme.com/", "<b>Visit</b><br>acme.com")},
	{"LINK_TEXT_OTHER_ADDRESS", shown("https://evil.example/x", "https://bank.com…"), shown("https://acme.com/manual", "https://acme.com…")},
	{"LINK_IP_ADDRESS", link("http://203.0.113.5/a"), link("https://203-0-113-5.acme.com/a")},
	{"LINK_IP_ADDRESS", link("https://0xCB007105/a"), link("https://cafe.acme.com/")},
	{"LINK_IP_ADDRESS", link("https://[2001:db8::1]/a"), link("https://acme.com/[2001:db8::1]")},
	{"LINK_IP_ADDRESS", link(`https:\\203.0.113.5\a`), link(`https://acme.com\203.0.113.5`)},
	{"LINK_LOOK_ALIKE", link("https://раypal.example/"), link("https://пример.example/")},
	{"LINK_LOOK_ALIKE", link("https://xn--80ak6aa92e.com/"), link("https://xn--mnchen-3ya.de/")},
	{"LINK_PUNYCODE", link("https://xn--mnchen-3ya.de/"), link("https://acme.com/xn--mnchen-3ya")},
	{"LINK_NESTED_DOMAIN", link("https://paypal.com.münchen.net/"), link("https://www.münchen.com/")},
	{"LINK_NESTED_DOMAIN", link("https://paypal.com.login.example.net/"), link("https://www.paypal.com.br/")},
	{"LINK_CREDENTIALS", link("https://bank.com@evil.example/"), link("https://acme.com/@bob")},
	{"LINK_PORT", link("https://acme.com:8443/"), link("https://acme.com:443/")},
	{"LINK_SHORTENER", link("https://bit.ly/3xY"), link("https://notbit.ly/3xY")},
	{"LINK_OPEN_REDIRECT", link("https://www.google.com/url?q=https://evil.example"), link("https://www.google.com/maps?q=acme")},
	{"LINK_SCRIPT", link("java&#10;script:alert(1)"), link("https://acme.com/javascript:")},
	{"LINK_DATA", link("data:text/html,hi"), link("https://acme.com/data:text")},
	{"LINK_PROGRAM", link("https://acme.com/setup.EXE?x=1"), link("https://acme.com/setup.html?f=a.exe")},
	{"LINK_LOCAL", link("http://localhost:3000/confirm"), link("https://localhost.acme.com/")},
	{"LINK_EMPTY", link("#"), link("#top")},
	{"LINK_HTTP", link("http://acme.com/"), link("https://acme.com/http://x")},
	{"LINK_HTTP", only(plain + " http://acme.com/"), only(plain + " https://acme.com/")},
	{"LINK_CHEAP_DOMAIN", link("https://deal.top/"), all(from("Ann <ann@deal.top>"), link("https://www.deal.top/"))},
	{"LINK_MANY_DOMAINS", html(numbered(`<a href="https://shop%d.com/">x</a>`, 20)), html(numbered(`<a href="https://a%d.shop.com/">x</a>`, 20))},
	{"LINK_TOO_MANY", html(numbered(`<a href="https://acme.com/%d">x</a>`, 130)), html(numbered(`<a href="https://acme.com/%d">x</a>`, 100))},

	{"UNSUBSCRIBE_MISSING", says("Unsubscribe at any time."), all(says("Unsubscribe at any time."), header("List-Unsubscribe", "<https://acme.com/u>"))},
	{"UNSUBSCRIBE_MISSING", header("Precedence", "bulk"), header("Precedence", "first-class")},
	{"UNSUBSCRIBE_BROKEN", header("List-Unsubscribe", "https://acme.com/u"), header("List-Unsubscribe", "<mailto:u@acme.com>")},
	{"UNSUBSCRIBE_NOT_ONE_CLICK", header("List-Unsubscribe", "<https://acme.com/u>"),
		all(header("List-Unsubscribe", "<https://acme.com/u>"), header("list-unsubscribe-post", "List-Unsubscribe=One-Click"))},
	{"PRIORITY_HIGH", header("X-Priority", "1 (Highest)"), header("X-Priority", "3")},
	{"PRECEDENCE_JUNK", header("Precedence", "junk"), header("Precedence", "bulk")},
	{"RECIPIENTS_MANY", to(21), to(20)},
	{"RECIPIENTS_HUGE", to(101), to(100)},
	{"TRUST_FORGED", header("X-Spam-Status", "No"), header("X-Spam-Story", "No")},
	{"TRUST_FORGED", header("Received-SPF", "pass"), all(header("Received-SPF", "pass"), raw(goodHeader+"Received-SPF: pass\r\n\r\nx"))},
	{"PHP_SCRIPT", header("X-PHP-Originating-Script", "33:mailer.php"), header("X-Mailer", "PHPMailer")},
	{"RAW_NO_DATE", raw("From: a@acme.com\r\nMessage-ID: <1@acme.com>\r\n\r\nx"), raw(goodHeader + "\r\nx")},
	{"RAW_NO_MESSAGE_ID", raw("From: a@acme.com\r\nDate: Sat, 14 Nov 2026 09:12:00 +0000\r\n\r\nx"), raw(goodHeader + "\r\nx")},
	{"RAW_REPEATED_FIELD", raw(goodHeader + "Subject: y\r\n\r\nx"), raw(goodHeader + "Received: a\r\nReceived: b\r\n\r\nx")},
	{"RAW_LONG_LINE", raw(goodHeader + "\r\n" + strings.Repeat("x", 999) + "\r\n"), raw(goodHeader + "\r\n" + strings.Repeat("x", 998) + "\r\n")},

	{"FROM_INVALID", from("Ann Lee"), from("ann@acme.com")},
	{"FROM_NAME_ADDRESS", from(`"ceo@bank.com" <ann@acme.com>`), from(`"ann@mail.acme.com" <ann@acme.com>`)},
	{"FROM_NAME_ADDRESS", from(`"ceo＠bank．com" <ann@acme.com>`), from(`"ann＠acme．com" <ann@acme.com>`)},
	{"FROM_NAME_DOMAIN", from(`bank.com Service <ann@acme.com>`), from(`acme.com Service <ann@acme.com>`)},
	{"FROM_NAME_BRAND", from("PayPal Service <ann@acme.com>"), from("Ann via PayPal <ann@acme.com>")},
	{"FROM_NAME_BRAND", from("Amazon.de <ann@acme.com>"), from("Amazon.de <bestellung@amazon.de>")},
	{"FROM_NAME_LOOK_ALIKE", from("Аpple Suрport <ann@acme.com>"), from("Анна Иванова <ann@acme.com>")},
	{"FROM_NAME_MISSING", from("ann@acme.com"), from("Ann <ann@acme.com>")},
	{"FROM_FREE_MAIL", from("Ann <ann@gmail.com>"), all(from("Ann <ann@gmail.com>"), proof(func(a *spam.Authentication) { a.Domain = "gmail.com" }))},
	{"FROM_NO_REPLY", from("Acme <no-reply@acme.com>"), from("Acme <reply@acme.com>")},
	{"FROM_RANDOM", from("Ann <a8x3k2q9z@acme.com>"), from("Ann <ann.lee.1984@acme.com>")},
	{"FROM_CHEAP_DOMAIN", from("Ann <ann@acme.top>"), from("Ann <ann@top.com>")},
	{"REPLY_TO_OTHER_DOMAIN", header("Reply-To", "ann@other.com"), header("Reply-To", "Ann <ann@help.acme.com>")},
	{"REPLY_TO_FREE_MAIL", header("Reply-To", "ann@gmail.com"), header("Reply-To", "ann@other.com")},

	{"DOMAIN_UNVERIFIED", proof(func(a *spam.Authentication) { a.Verified = false }), subject("x")},
	{"DOMAIN_NOT_ALIGNED", proof(func(a *spam.Authentication) { a.Domain = "other.com" }), proof(func(a *spam.Authentication) { a.Domain = "mail.acme.com" })},
	{"SPF_FAIL", proof(func(a *spam.Authentication) { a.SPF = "softfail" }), proof(func(a *spam.Authentication) { a.SPF = "temperror" })},
	{"SPF_NONE", proof(func(a *spam.Authentication) { a.SPF = "none" }), proof(func(a *spam.Authentication) { a.SPF = "" })},
	{"DKIM_FAIL", proof(func(a *spam.Authentication) { a.DKIM = "fail" }), proof(func(a *spam.Authentication) { a.DKIM = "PASS" })},
	{"DKIM_NONE", proof(func(a *spam.Authentication) { a.DKIM = "none" }), proof(func(a *spam.Authentication) { a.DKIM = "pass" })},
	{"DMARC_FAIL", proof(func(a *spam.Authentication) { a.DMARC = "fail" }), proof(func(a *spam.Authentication) { a.DMARC = "none" })},
	{"DMARC_NONE", proof(func(a *spam.Authentication) { a.DMARC = "none" }), proof(func(a *spam.Authentication) { a.DMARC = "pass" })},
}

func numbered(format string, n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, format, i)
	}
	return b.String()
}

func applies(m spam.Message, id string) bool {
	return slices.ContainsFunc(spam.Check(m).Rules, func(h spam.Hit) bool { return h.ID == id })
}

func TestRulesApplyToTheirCasesAndNotToTheirNeighbours(t *testing.T) {
	t.Parallel()
	for i, c := range ruleCases {
		hit, miss := ordinary(), ordinary()
		c.hit(&hit)
		c.miss(&miss)
		if !applies(hit, c.id) {
			t.Errorf("case %d: %s does not apply; what does:%s", i, c.id, told(spam.Check(hit)))
		}
		if applies(miss, c.id) {
			t.Errorf("case %d: %s applies to its near miss", i, c.id)
		}
	}
}

func TestEveryRuleHasACase(t *testing.T) {
	t.Parallel()
	ids := spam.RuleIDs()
	if len(ids) < 45 {
		t.Fatalf("%d rules", len(ids))
	}
	for i, id := range ids {
		if slices.Contains(ids[:i], id) {
			t.Errorf("%s is there twice", id)
		}
		tested := false
		for _, c := range ruleCases {
			tested = tested || c.id == id
		}
		if !tested {
			t.Errorf("%s has no case", id)
		}
	}
}

func TestNoRuleAppliesToAnOrdinaryMessage(t *testing.T) {
	t.Parallel()
	if result := spam.Check(ordinary()); len(result.Rules) != 0 || result.Score != 0 || !result.Sendable {
		t.Fatalf("%+v", result)
	}
}
