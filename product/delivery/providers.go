package delivery

import (
	"fmt"
	"os"

	"postrider/product/delivery/internal/shape"
)

// Providers is what is known about mailbox providers: what their servers bear, and what their replies ask of a sender. The zero
// value is what comes with the program.
type Providers struct {
	table shape.Table
	read  bool
}

// ReadProviders reads an operator's file and lays it over what comes with the program.
func ReadProviders(path string) (Providers, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return Providers{}, fmt.Errorf("--providers: %w", err)
	}
	over, err := shape.ReadProviders(string(text))
	if err != nil {
		return Providers{}, fmt.Errorf("%s: %w", path, err)
	}
	return Providers{table: shape.Shipped().With(over), read: true}, nil
}

func (p Providers) orShipped() shape.Table {
	if p.read {
		return p.table
	}
	return shape.Shipped()
}
