// A mail server of nodemailer's authors. It takes mail for peer.test over STARTTLS and prints each message as a line of JSON.
// "later" is told to come again once, "nobody" does not exist, and mail with the subject "Virus" is refused after its end.
import { SMTPServer } from 'smtp-server'

const waited = new Set()
const refuse = (code, text) => Object.assign(new Error(text), { responseCode: code })

const server = new SMTPServer({
  authOptional: true,
  size: 1 << 20,
  onRcptTo({ address }, session, done) {
    if (address.startsWith('nobody@')) return done(refuse(550, '5.1.1 No such user'))
    if (address.startsWith('later@') && !waited.has(address)) {
      waited.add(address)
      return done(refuse(451, '4.7.1 Please try again later'))
    }
    done()
  },
  onData(stream, session, done) {
    let raw = ''
    stream.on('data', (chunk) => { raw += chunk.toString('latin1') })
    stream.on('end', () => {
      if (stream.sizeExceeded) return done(refuse(552, '5.3.4 Too large'))
      if (raw.includes('Subject: Virus')) return done(refuse(554, '5.6.0 Content refused'))
      console.log(JSON.stringify({ secure: session.secure, hello: session.hostNameAppearsAs, to: session.envelope.rcptTo.map((r) => r.address), bytes: raw.length }))
      done(null, '2.0.0 Taken')
    })
  },
})
server.on('error', () => {}) // clients that hang up
server.listen(Number(process.argv[2]), '127.0.0.1')
