package blob

import (
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"strings"

	"github.com/minio/minio-go/v7/pkg/s3utils"
)

// defaultRegion is what services that have no regions expect to be asked for.
const defaultRegion = "us-east-1"

// S3Config says where a bucket is and who we are there.
type S3Config struct {
	// Endpoint is host or host:port of the service.
	Endpoint  string
	AccessKey string
	SecretKey string
	Bucket    string
	// Prefix is put before every key, so that a bucket can be shared; empty or ending in a slash.
	Prefix string
	Region string
	TLS    bool
}

// ParseS3URL reads s3://KEY:SECRET@host:port/bucket/prefix?region=eu-central-1&tls=false. Characters of key and secret
// that mean something in a URL are written as %XX. TLS is on unless tls=false. An error never shows the secret.
func ParseS3URL(raw string) (S3Config, error) {
	u, err := url.Parse(raw)
	if err != nil {
		return S3Config{}, errors.New("blob URL cannot be read; write special characters of key and secret as %XX")
	}
	if u.Scheme != "s3" || u.Host == "" {
		return S3Config{}, errors.New("blob URL must look like s3://KEY:SECRET@host:port/bucket")
	}
	secret, _ := u.User.Password()
	config := S3Config{Endpoint: u.Host, AccessKey: u.User.Username(), SecretKey: secret, Region: defaultRegion, TLS: true}
	if config.AccessKey == "" || secret == "" {
		return S3Config{}, errors.New("blob URL has no access key and secret before the host")
	}
	config.Bucket, config.Prefix, _ = strings.Cut(strings.Trim(u.Path, "/"), "/")
	if config.Bucket == "" {
		return S3Config{}, errors.New("blob URL names no bucket after the host")
	}
	if err := s3utils.CheckValidBucketName(config.Bucket); err != nil {
		return S3Config{}, fmt.Errorf("blob URL: the bucket %s: %w", config.Bucket, err)
	}
	if config.Prefix != "" {
		config.Prefix += "/"
	}
	if err := config.readOptions(u.Query()); err != nil {
		return S3Config{}, err
	}
	return config, nil
}

func (c *S3Config) readOptions(options url.Values) error {
	for name, values := range options {
		value := values[len(values)-1]
		switch name {
		case "region":
			c.Region = value
		case "tls":
			on, err := strconv.ParseBool(value)
			if err != nil {
				return fmt.Errorf("blob URL: tls=%q is neither true nor false", value)
			}
			c.TLS = on
		default:
			return fmt.Errorf("blob URL has an unknown option %q; known are region and tls", name)
		}
	}
	return nil
}
