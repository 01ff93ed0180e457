package smtp_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"postrider/mail/smtp"
)

const transaction = "C: MAIL FROM:<a@client.test>\nC: RCPT TO:<b@mx.test>\nC: RCPT TO:<c@mx.test>\nC: DATA\n"

func send(t *testing.T, script string, env smtp.Envelope) (*smtp.Client, smtp.Result, error) {
	t.Helper()
	client := greet(t, remote(t, script))
	result, err := client.Send(context.Background(), env, strings.NewReader("x\r\n"))
	return client, result, err
}

// sendAndQuit is send to a server that must hear nothing but QUIT after script.
func sendAndQuit(t *testing.T, script string, env smtp.Envelope) (smtp.Result, error) {
	t.Helper()
	client, result, err := send(t, script+"C: QUIT\nS: 221 bye", env)
	if !client.Usable() {
		t.Error("connection not usable")
	}
	client.Quit(context.Background())
	return result, err
}

func TestPipelinedRepliesBelongToTheirRecipients(t *testing.T) {
	t.Parallel()
	_, result, err := send(t, pipelined+transaction+"S: 250 ok\nS: 550 5.1.1 no\nS: 251 will forward\nS: 354 go\nC.\nS: 250 2.0.0 taken",
		envelope("b@mx.test", "c@mx.test"))
	if err != nil {
		t.Fatal(err)
	}
	checkRecipients(t, result, "refused 550 rcpt_to", "accepted 250 end_of_data")
}

func TestAServerThatHangsUpAtTheLoneDotHasRefusedAllTheSame(t *testing.T) {
	t.Parallel()
	client, result, err := send(t, pipelined+transaction+"S: 250 ok\nS: 550 no\nS: 550 no\nS: 354 go\nC: .\nX", envelope("b@mx.test", "c@mx.test"))
	if err != nil || result.SentFinalDot || client.Usable() {
		t.Errorf("%+v %v", result, err)
	}
	checkRecipients(t, result, "refused 550 rcpt_to", "refused 550 rcpt_to")
}

func TestAServerThatHangsUpAfterItRefusedEverybodyHasRefusedThemAllTheSame(t *testing.T) {
	t.Parallel()
	for replies, want := range map[string][]string{
		"S: 550 5.7.1 not you\nX":                               {"refused 550 mail_from", "refused 550 mail_from"},
		"S: 250 ok\nS: 550 5.1.1 no such user\nS: 451 later\nX": {"refused 550 rcpt_to", "refused 451 rcpt_to"},
		"S: 250 ok\nS: 550 no\nS: 550 no\nS: 354 go\nC: .\nX":   {"refused 550 rcpt_to", "refused 550 rcpt_to"},
	} {
		client, result, err := send(t, pipelined+transaction+replies, envelope("b@mx.test", "c@mx.test"))
		if err != nil || result.SentFinalDot || client.Usable() {
			t.Errorf("%q: %+v %v", replies, result, err)
		}
		checkRecipients(t, result, want...)
	}
	_, result, err := send(t, pipelined+transaction+"S: 250 ok\nS: 550 no\nX", envelope("b@mx.test", "c@mx.test"))
	if err == nil || result.Recipients[1].Reply.Code != 0 {
		t.Errorf("it has answered for one of two: %+v %v", result, err)
	}
}

func TestAllRecipientsRefusedAfterPipelinedDataSendsALoneDot(t *testing.T) {
	t.Parallel()
	client, result, err := send(t, pipelined+transaction+"S: 250 ok\nS: 550 no\nS: 451 later\nS: 354 go\nC: .\nS: 554 nobody\nC: RSET\nS: 250 ok",
		envelope("b@mx.test", "c@mx.test"))
	if err != nil || result.SentFinalDot || result.Stage != smtp.StageRcptTo || result.Final.Code != 451 {
		t.Errorf("%+v %v", result, err)
	}
	checkRecipients(t, result, "refused 550 rcpt_to", "refused 451 rcpt_to")
	if err := client.Reset(context.Background()); err != nil || !client.Usable() {
		t.Errorf("connection not usable: %v", err)
	}
}

func TestAllRecipientsRefusedAndDataRefusedKeepsTheConnection(t *testing.T) {
	t.Parallel()
	client, result, err := send(t, pipelined+transaction+"S: 250 ok\nS: 550 no\nS: 550 no\nS: 554 nobody\n"+
		"C: RSET\nS: 250 ok\n"+transaction+"S: 250 ok\nS: 250 ok\nS: 250 ok\nS: 354 go\nC.\nS: 250 taken", envelope("b@mx.test", "c@mx.test"))
	if err != nil || result.Final.Code != 550 {
		t.Errorf("%+v %v", result, err)
	}
	result, err = client.Send(context.Background(), envelope("b@mx.test", "c@mx.test"), strings.NewReader("y"))
	if err != nil {
		t.Fatal(err)
	}
	checkRecipients(t, result, "accepted 250 end_of_data", "accepted 250 end_of_data")
}

func TestRefusedSenderDecidesForAllRecipients(t *testing.T) {
	t.Parallel()
	_, result, err := send(t, pipelined+transaction+"S: 550 5.7.1 not you\nS: 503 no mail\nS: 503 no mail\nS: 503 no mail",
		envelope("b@mx.test", "c@mx.test"))
	if err != nil || result.Stage != smtp.StageMailFrom {
		t.Errorf("%+v %v", result, err)
	}
	checkRecipients(t, result, "refused 550 mail_from", "refused 550 mail_from")
}

func TestRefusedDataDecidesForAcceptedRecipients(t *testing.T) {
	t.Parallel()
	_, result, err := send(t, pipelined+transaction+"S: 250 ok\nS: 250 ok\nS: 550 no\nS: 451 4.3.0 later", envelope("b@mx.test", "c@mx.test"))
	if err != nil || result.Stage != smtp.StageData || result.SentFinalDot {
		t.Errorf("%+v %v", result, err)
	}
	checkRecipients(t, result, "refused 451 data", "refused 550 rcpt_to")
}

func TestRefusedMessageDecidesForAcceptedRecipients(t *testing.T) {
	t.Parallel()
	client, result, err := send(t, pipelined+transaction+"S: 250 ok\nS: 250 ok\nS: 550 no\nS: 354 go\nC.\nS: 554 5.6.0 spam",
		envelope("b@mx.test", "c@mx.test"))
	if err != nil || !client.Usable() {
		t.Errorf("%+v %v", result, err)
	}
	checkRecipients(t, result, "refused 554 end_of_data", "refused 550 rcpt_to")
}

func TestServerLeavingMidStreamSettlesTheRestAndEndsTheConnection(t *testing.T) {
	t.Parallel()
	cases := []struct {
		replies string
		want    []string
	}{
		{"S: 421 bye", []string{"refused 421 mail_from", "refused 421 mail_from"}},
		{"S: 250 ok\nS: 550 no\nS: 421 bye", []string{"refused 550 rcpt_to", "refused 421 rcpt_to"}},
		{"S: 250 ok\nS: 250 ok\nS: 250 ok\nS: 421 bye", []string{"refused 421 data", "refused 421 data"}},
		{"S: 250 ok\nS: 250 ok\nS: 250 ok\nS: 354 go\nC.\nS: 421 bye", []string{"refused 421 end_of_data", "refused 421 end_of_data"}},
	}
	for _, c := range cases {
		client, result, err := send(t, pipelined+transaction+c.replies, envelope("b@mx.test", "c@mx.test"))
		if err != nil || client.Usable() || result.Final.Code != 421 {
			t.Errorf("%q: %+v %v", c.replies, result, err)
		}
		checkRecipients(t, result, c.want...)
	}
}

func TestWithoutPipeliningEachCommandWaits(t *testing.T) {
	t.Parallel()
	_, result, err := send(t, greeting+"C: MAIL FROM:<a@client.test>\nS: 250 ok\nC: RCPT TO:<b@mx.test>\nS: 550 no\n"+
		"C: RCPT TO:<c@mx.test>\nS: 250 ok\nC: DATA\nS: 354 go\nC.\nS: 250 taken", envelope("b@mx.test", "c@mx.test"))
	if err != nil {
		t.Fatal(err)
	}
	checkRecipients(t, result, "refused 550 rcpt_to", "accepted 250 end_of_data")

	result, err = sendAndQuit(t, greeting+"C: MAIL FROM:<a@client.test>\nS: 250 ok\nC: RCPT TO:<b@mx.test>\nS: 550 no\n",
		envelope("b@mx.test"))
	if err != nil || result.Stage != smtp.StageRcptTo {
		t.Errorf("DATA without recipients: %+v %v", result, err)
	}
}

func TestRepliesThatDoNotFitTheCommandEndTheConnection(t *testing.T) {
	t.Parallel()
	for _, replies := range []string{"S: 354 go", "S: 250 ok\nS: 354 go", "S: 250 ok\nS: 250 ok\nS: 250 ok\nS: 250 ok",
		"S: 250 ok\nS: 250 ok\nS: 250 ok\nS: 354 go\nC.\nS: 354 more"} {
		client, _, err := send(t, pipelined+transaction+replies, envelope("b@mx.test", "c@mx.test"))
		var broken *smtp.ProtocolError
		if !errors.As(err, &broken) || client.Usable() {
			t.Errorf("%q: %v", replies, err)
		}
	}
}

func TestUnaskedReplyIsNotTakenForTheNextAnswer(t *testing.T) {
	t.Parallel()
	client, _, err := send(t, pipelined+transaction+"S: 250 ok\nS: 250 ok\nS: 250 ok\nS: 354 go\nC.\nS> 250 taken\\r\\n250 for free\\r\\n",
		envelope("b@mx.test", "c@mx.test"))
	if err != nil {
		t.Fatal(err)
	}
	_, err = client.Send(context.Background(), envelope("b@mx.test"), strings.NewReader(""))
	var broken *smtp.ProtocolError
	if !errors.As(err, &broken) || client.Usable() {
		t.Errorf("got %v", err)
	}
}

func TestAddressesThatSayMoreThanAnAddressAreNeverSent(t *testing.T) {
	t.Parallel()
	bad := []string{"b@mx.test> NOTIFY=NEVER", "b@mx.test SIZE=1", "b@mx.test\r\nRCPT TO:<evil@mx.test", "b\x00@mx.test",
		"<b@mx.test>", "b>c@mx.test", "b<c@mx.test", "", "b\x7f@mx.test", "b\xff@mx.test", strings.Repeat("b", 400) + "@mx.test"}
	env := envelope(append(bad, "c@mx.test")...)
	_, result, err := send(t, pipelined+"C: MAIL FROM:<a@client.test>\nC: RCPT TO:<c@mx.test>\nC: DATA\nS: 250 ok\nS: 250 ok\nS: 354 go\nC.\nS: 250 taken", env)
	if err != nil {
		t.Fatal(err)
	}
	want := make([]string, len(bad), len(bad)+1)
	for i := range bad {
		want[i] = "local 553 rcpt_to"
	}
	checkRecipients(t, result, append(want, "accepted 250 end_of_data")...)

	env = smtp.Envelope{From: "a@client.test> SIZE=1", To: []string{"b@mx.test"}}
	result, err = sendAndQuit(t, pipelined, env)
	if err != nil || result.SentFinalDot {
		t.Errorf("%+v %v", result, err)
	}
	checkRecipients(t, result, "local 553 mail_from")
}

func TestWhatTheServerDoesNotTakeIsRefusedLocally(t *testing.T) {
	t.Parallel()
	result, err := sendAndQuit(t, pipelined, smtp.Envelope{From: "ü@client.test", To: []string{"b@mx.test"}})
	if err != nil || result.Final.Enhanced != "5.6.7" {
		t.Errorf("%+v %v", result, err)
	}
	checkRecipients(t, result, "local 553 mail_from")

	result, err = sendAndQuit(t, pipelined, smtp.Envelope{From: "a@client.test", To: []string{"b@mx.test"}, Size: 1001})
	if err != nil {
		t.Error(err)
	}
	checkRecipients(t, result, "local 552 mail_from")

	_, result, err = send(t, pipelined+"C: MAIL FROM:<a@client.test>\nC: RCPT TO:<b@mx.test>\nC: DATA\nS: 250 ok\nS: 250 ok\nS: 354 go\nC.\nS: 250 taken",
		envelope("ü@mx.test", "b@mx.test"))
	if err != nil {
		t.Error(err)
	}
	checkRecipients(t, result, "local 553 rcpt_to", "accepted 250 end_of_data")
}

func TestManyRecipientsArePipelinedInParts(t *testing.T) {
	t.Parallel()
	var d desk
	_, address := startServer(t, &d, smtp.Config{MaxRecipients: 1000})
	var to []string
	for i := range 1000 {
		to = append(to, fmt.Sprintf("recipient-%d@mx.test", i))
	}
	if len(strings.Join(to, "")) < 3*smtp.PipelineBytes {
		t.Fatal("all would fit into one part")
	}
	result, err := greet(t, dial(t, address)).Send(context.Background(), envelope(to...), strings.NewReader("x"))
	if err != nil || !result.Final.Positive() || len(d.accepted()[0].To) != 1000 {
		t.Errorf("%s %v", result.Final, err)
	}
}

func TestUnreadableBodyNeverGetsItsDot(t *testing.T) {
	t.Parallel()
	var d desk
	_, address := startServer(t, &d, smtp.Config{})
	client := greet(t, dial(t, address))
	body := io.MultiReader(strings.NewReader("half"), iotest.ErrReader(io.ErrClosedPipe))
	result, err := client.Send(context.Background(), envelope("b@mx.test"), body)
	if !errors.Is(err, io.ErrClosedPipe) || result.SentFinalDot || client.Usable() || len(d.accepted()) != 0 {
		t.Errorf("%+v %v", result, err)
	}
}

func TestServerThatRefusesMidMessageIsHeard(t *testing.T) {
	t.Parallel()
	client := greet(t, remote(t, pipelined+"C: MAIL FROM:<a@client.test>\nC: RCPT TO:<b@mx.test>\nC: DATA\nS: 250 ok\nS: 250 ok\nS: 354 go\nS: 552 5.3.4 enough\nX"))
	result, err := client.Send(context.Background(), envelope("b@mx.test"), bytes.NewReader(make([]byte, 64<<20)))
	if err != nil || client.Usable() || result.SentFinalDot {
		t.Fatalf("%+v %v", result, err)
	}
	checkRecipients(t, result, "refused 552 end_of_data")
}

// However a message is cut into reads, it arrives as the same lines and ends exactly once.
func FuzzMessagesArriveAsTheyWereSent(f *testing.F) {
	for _, end := range fakeEnds {
		f.Add([]byte("Subject: x\r\n\r\nfirst" + end + "MAIL FROM:<evil@client.test>\r\n"))
	}
	f.Add([]byte(".\r\n"))
	f.Add([]byte(strings.Repeat("\r", 5000)))
	f.Fuzz(func(t *testing.T, body []byte) {
		if bytes.IndexByte(body, 0) >= 0 {
			return // refused by the server, as it should
		}
		want := strings.NewReplacer("\r\n", "\r\n", "\r", "\r\n", "\n", "\r\n").Replace(string(body))
		if want != "" && !strings.HasSuffix(want, "\r\n") {
			want += "\r\n"
		}
		for _, reader := range []io.Reader{bytes.NewReader(body), iotest.OneByteReader(bytes.NewReader(body))} {
			var d desk
			client := greet(t, pipeTo(t, newServer(t, &d, smtp.Config{})))
			if _, err := client.Send(context.Background(), envelope("b@mx.test"), reader); err != nil {
				t.Fatal(err)
			}
			client.Quit(context.Background())
			if got := d.accepted(); len(got) != 1 || got[0].Body != want {
				t.Fatalf("%q arrived as %+v", body, got)
			}
		}
	})
}
