package main

import (
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"os"

	"postrider/product/dnsprovider"
)

// domainConnectFlags are what the operator has registered for Domain Connect links.
type domainConnectFlags struct {
	Provider string `help:"Provider id of your Domain Connect templates." env:"POSTRIDER_DOMAIN_CONNECT_PROVIDER"`
	Mail     string `help:"Template for sending." env:"POSTRIDER_DOMAIN_CONNECT_MAIL"`
	Inbound  string `help:"Template for receiving." env:"POSTRIDER_DOMAIN_CONNECT_INBOUND"`
	Both     string `help:"Template for both." env:"POSTRIDER_DOMAIN_CONNECT_BOTH"`
	KeyHost  string `help:"Host of the TXT records with your public key." default:"_dck1" env:"POSTRIDER_DOMAIN_CONNECT_KEY_HOST"`
	Key      string `help:"PEM file of the RSA key that signs links." type:"path" env:"POSTRIDER_DOMAIN_CONNECT_KEY"`
	Redirect string `help:"Where people are sent back to." env:"POSTRIDER_DOMAIN_CONNECT_REDIRECT"`
}

var errNotRSA = errors.New("not an RSA private key in PEM")

func (f domainConnectFlags) config() (dnsprovider.DomainConnect, error) {
	c := dnsprovider.DomainConnect{ProviderID: f.Provider, MailService: f.Mail, InboundService: f.Inbound, BothService: f.Both, KeyHost: f.KeyHost, RedirectURI: f.Redirect}
	if f.Key == "" {
		return c, nil
	}
	raw, err := os.ReadFile(f.Key)
	if err != nil {
		return c, usage{fmt.Errorf("--domain-connect-key: %w", err)}
	}
	if c.PrivateKey, err = parseRSA(raw); err != nil {
		return c, usage{fmt.Errorf("--domain-connect-key %s: %w", f.Key, err)}
	}
	return c, nil
}

// parseRSA reads either of the two forms that openssl writes.
func parseRSA(raw []byte) (*rsa.PrivateKey, error) {
	block, _ := pem.Decode(raw)
	if block == nil {
		return nil, errNotRSA
	}
	if key, err := x509.ParsePKCS1PrivateKey(block.Bytes); err == nil {
		return key, nil
	}
	parsed, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	if err != nil {
		return nil, errNotRSA
	}
	key, ok := parsed.(*rsa.PrivateKey)
	if !ok {
		return nil, errNotRSA
	}
	return key, nil
}
