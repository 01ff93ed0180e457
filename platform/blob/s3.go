package blob

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"path"
	"strings"
	"time"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"

	"postrider/world"
)

const (
	// s3Tries is how often a request is made before it counts as failed; the library waits in between.
	s3Tries = 3
	// s3IdleConnections covers the workers of one node that read bodies at the same time.
	s3IdleConnections = 64
	// removeWithin is what a bucket that is well needs to remove an object.
	removeWithin = 2 * time.Second
)

// S3 keeps blobs as objects of one bucket, at any service that speaks S3.
type S3 struct {
	core   minio.Core
	bucket string
	prefix string
	spool  string // the directory of large content on its way
}

// NewS3 returns a store in the bucket that config names, which must exist. It does not connect yet. Large content waits in the directory
// spool until it is complete; empty means the machine's temporary directory.
func NewS3(config S3Config, dialer world.Dialer, spool string) (*S3, error) {
	client, err := minio.NewCore(config.Endpoint, &minio.Options{
		Creds:        credentials.NewStaticV4(config.AccessKey, config.SecretKey, ""),
		Secure:       config.TLS,
		Region:       config.Region,
		BucketLookup: minio.BucketLookupPath, // the one form that every service and every certificate can serve
		MaxRetries:   s3Tries,
		Transport: impatient{&http.Transport{
			DialContext:           dialer.DialContext,
			TLSHandshakeTimeout:   s3Patience,
			ResponseHeaderTimeout: s3Patience,
			MaxIdleConnsPerHost:   s3IdleConnections,
			IdleConnTimeout:       time.Minute,
			DisableCompression:    true, // content must come back as it was put
		}},
	})
	if err != nil {
		return nil, fmt.Errorf("connect to S3 at %s: %w", config.Endpoint, err)
	}
	return &S3{core: *client, bucket: config.Bucket, prefix: config.Prefix, spool: spool}, nil
}

// Put uploads the content under its name, always: there is no other way to make an object young. Its name has to be known
// before the upload begins, so the content is spooled here first.
func (s *S3) Put(ctx context.Context, r io.Reader, maxBytes int64) (Info, error) {
	content := spool{dir: s.spool}
	defer content.close()
	info, err := copyHashed(ctx, &content, r, maxBytes)
	if err != nil {
		return Info{}, fmt.Errorf("put blob: %w", err)
	}
	reader, err := content.reader()
	if err != nil {
		return Info{}, fmt.Errorf("put blob: %w", err)
	}
	// The hash we give is part of the signed request, and the service compares it with what it received. The option only
	// keeps the library from hashing once more, chunk by chunk, which has no form for empty content.
	_, err = s.core.PutObject(ctx, s.bucket, s.key(info.Ref), reader, info.Size, "", string(info.Ref),
		minio.PutObjectOptions{ContentType: "application/octet-stream", DisableContentSha256: true})
	if err != nil {
		return Info{}, fmt.Errorf("put blob %s: %w", info.Ref, err)
	}
	return info, nil
}

// Open begins the download of a blob.
func (s *S3) Open(ctx context.Context, ref Ref) (io.ReadCloser, error) {
	if _, err := ParseRef(string(ref)); err != nil {
		return nil, err
	}
	body, _, _, err := s.core.GetObject(ctx, s.bucket, s.key(ref), minio.GetObjectOptions{})
	if missing(err) {
		return nil, ErrNotFound
	}
	if err != nil {
		return nil, fmt.Errorf("open blob %s: %w", ref, err)
	}
	return newCheckedReader(body, ref), nil
}

// Delete removes the object of a blob.
func (s *S3) Delete(ctx context.Context, ref Ref) error {
	if _, err := ParseRef(string(ref)); err != nil {
		return nil // what can name no blob is not there
	}
	err := s.core.RemoveObject(ctx, s.bucket, s.key(ref), minio.RemoveObjectOptions{})
	if err != nil && !missing(err) {
		return fmt.Errorf("delete blob %s: %w", ref, err)
	}
	return nil
}

// DeleteUntouched removes the object of a blob if its date is old enough. S3 cannot do both in one step: content that is
// put again between the look and the removal, a few milliseconds, is lost. A removal that hangs is given up, and not tried again by the
// library: by then the content may be that of another message.
func (s *S3) DeleteUntouched(ctx context.Context, ref Ref, since time.Time) (bool, error) {
	if _, err := ParseRef(string(ref)); err != nil {
		return false, nil
	}
	stat, err := s.core.StatObject(ctx, s.bucket, s.key(ref), minio.StatObjectOptions{})
	if missing(err) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("delete blob %s: %w", ref, err)
	}
	if !stat.LastModified.Before(since) {
		return false, nil
	}
	soon, cancel := context.WithTimeout(ctx, removeWithin)
	defer cancel()
	if err := s.Delete(soon, ref); err != nil {
		return false, err
	}
	return true, nil
}

// List asks for the objects page by page.
func (s *S3) List(ctx context.Context, before time.Time, visit func(Info, time.Time) error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel() // ends the library's iterator when the visitor ends the walk
	options := minio.ListObjectsOptions{Prefix: s.prefix, Recursive: true}
	for object := range s.core.ListObjectsIter(ctx, s.bucket, options) {
		if object.Err != nil {
			return fmt.Errorf("list blobs: %w", object.Err)
		}
		ref, err := ParseRef(path.Base(object.Key))
		if err != nil || object.Key != s.key(ref) || !object.LastModified.Before(before) {
			continue
		}
		if err := visit(Info{Ref: ref, Size: object.Size}, object.LastModified.UTC()); err != nil {
			return err
		}
	}
	return ctx.Err()
}

// Sign reads the object of the sign.
func (s *S3) Sign(ctx context.Context) (string, error) {
	body, _, _, err := s.core.GetObject(ctx, s.bucket, s.prefix+signName, minio.GetObjectOptions{})
	if missing(err) {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("read the sign of the store: %w", err)
	}
	defer body.Close()
	raw, err := io.ReadAll(io.LimitReader(body, maxSign))
	if err != nil {
		return "", fmt.Errorf("read the sign of the store: %w", err)
	}
	return string(raw), nil
}

// SetSign replaces the object of the sign.
func (s *S3) SetSign(ctx context.Context, sign string) error {
	hash := sha256.Sum256([]byte(sign))
	_, err := s.core.PutObject(ctx, s.bucket, s.prefix+signName, strings.NewReader(sign), int64(len(sign)), "", hex.EncodeToString(hash[:]),
		minio.PutObjectOptions{ContentType: "text/plain", DisableContentSha256: true})
	if err != nil {
		return fmt.Errorf("sign the store: %w", err)
	}
	return nil
}

// key spreads names over prefixes, as the files do, so that either store can be copied to the other.
func (s *S3) key(ref Ref) string { return s.prefix + string(ref[:fanOut]) + "/" + string(ref) }

func missing(err error) bool {
	var response minio.ErrorResponse
	return errors.As(err, &response) && response.Code == minio.NoSuchKey
}
