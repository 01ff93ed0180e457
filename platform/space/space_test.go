package space_test

import (
	"errors"
	"testing"

	"postrider/platform/space"
)

func TestParseTakesALowerCaseUUID(t *testing.T) {
	t.Parallel()
	const text = "019a8473-2f5e-7c31-9d4b-0a1b2c3d4e5f"

	id, err := space.Parse(text)

	if err != nil || id.String() != text {
		t.Fatalf("Parse(%q) = %q, %v", text, id, err)
	}
}

func TestParseRefusesEveryOtherSpelling(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"",
		"019A8473-2F5E-7C31-9D4B-0A1B2C3D4E5F",
		"019a84732f5e7c319d4b0a1b2c3d4e5f",
		"{019a8473-2f5e-7c31-9d4b-0a1b2c3d4e5f}",
		"019a8473-2f5e-7c31-9d4b-0a1b2c3d4e5g",
		"019a8473-2f5e-7c31-9d4b-0a1b2c3d4e5",
		"019a8473-2f5e-7c31-9d4b-0a1b2c3d4e5f ",
		"019a847-32f5e-7c31-9d4b-0a1b2c3d4e5f",
		"019a8473-2f5e-7c31-9d4b-0a1b2c3d4e5\x00",
		"019a8473-2f5e-7c31-9d4b-0a1b2c3d-e5f",
	} {
		if id, err := space.Parse(text); !errors.Is(err, space.ErrInvalid) || id != "" {
			t.Errorf("Parse(%q) = %q, %v; want ErrInvalid", text, id, err)
		}
	}
}
