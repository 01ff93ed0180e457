package spam

import (
	"strconv"
	"strings"
)

// maxStyle bounds how much of a style attribute is read; honest ones are a few hundred bytes.
const maxStyle = 4 << 10

// look is how an element is shown, as far as it decides whether its text can be read.
type look struct {
	// gone means nothing inside the element is shown, whatever it says.
	gone bool
	// unseen means the text is not shown unless an element inside says so (visibility).
	unseen bool
	// variant means that the element is shown on some screens only, in place of another one.
	variant bool
	// size is the height of letters in pixels.
	size       float64
	colour     colour
	background colour
}

// usual is the look of a page that says nothing about it.
var usual = look{size: 16, colour: colour{known: true}, background: colour{known: true, red: 255, green: 255, blue: 255}}

// tinySize is the height in pixels under which nobody can read.
const tinySize = 4.0

func (l look) hides() bool {
	return l.gone || l.unseen || l.size < 1 || l.colour.transparent || l.colour.like(l.background)
}

func (l look) tiny() bool { return l.size < tinySize }

// styled returns the look with the declarations of a style attribute applied.
func (l look) styled(style string) look {
	style = strings.ToLower(style[:min(len(style), maxStyle)])
	flat, clipped := false, false
	for declaration := range strings.SplitSeq(style, ";") {
		name, value, _ := strings.Cut(declaration, ":")
		value = strings.TrimSpace(strings.ReplaceAll(value, "!important", ""))
		switch strings.TrimSpace(name) {
		case "display":
			l.gone = l.gone || value == "none"
		case "visibility":
			l.unseen = value == "hidden" || value == "collapse"
		case "opacity":
			if amount, ok := number(value); ok && amount < 0.05 {
				l.gone = true
			}
		case "font-size":
			l.size = fontSize(value, l.size)
		case "height", "max-height", "width", "max-width":
			if amount, ok := number(value); ok && amount < 1 {
				flat = true
			}
		case "overflow":
			clipped = value == "hidden"
		case "text-indent":
			if amount, ok := number(value); ok && amount < -500 {
				l.gone = true
			}
		case "color":
			l.colour = readColour(value)
		case "background-color", "background":
			switch c := readColour(value); {
			case c.translucent:
				l.background = colour{} // what is behind it shines through
			case !c.transparent:
				l.background = c
			}
		case "background-image":
			l.background = colour{}
		}
	}
	l.gone = l.gone || flat && clipped
	return l
}

// number reads the number at the start of a value, without its unit.
func number(value string) (float64, bool) {
	end := 0
	for end < len(value) && strings.IndexByte("+-.0123456789", value[end]) >= 0 {
		end++
	}
	x, err := strconv.ParseFloat(value[:end], 64)
	return x, err == nil
}

// pixels are the lengths of units; those of a window are for one of 600 pixels, as wide as mail is.
var pixels = map[string]float64{"": 1, "px": 1, "pt": 4. / 3, "pc": 16, "in": 96, "cm": 38, "mm": 3.8, "rem": usual.size, "ch": usual.size / 2,
	"ex": usual.size / 2, "vw": 6, "vh": 6, "vmin": 6, "vmax": 6}

func fontSize(value string, inherited float64) float64 {
	amount, ok := number(value)
	if !ok {
		return usual.size // a word such as "small"; none of them is unreadable
	}
	switch unit := strings.TrimSpace(strings.TrimLeft(value, "+-.0123456789")); {
	case unit == "%":
		return inherited * amount / 100
	case unit == "em":
		return inherited * amount
	case pixels[unit] > 0:
		return amount * pixels[unit]
	}
	return amount
}

// colour is a colour as far as it can be known without a browser.
type colour struct {
	known, transparent, translucent bool
	red, green, blue                int
}

// like tells whether one colour cannot be read on the other.
func (c colour) like(other colour) bool {
	const apart = 12 // of 255; the eye needs more
	near := func(a, b int) bool { return max(a-b, b-a) <= apart }
	return c.known && other.known && near(c.red, other.red) && near(c.green, other.green) && near(c.blue, other.blue)
}

var namedColours = map[string]colour{
	"white": {known: true, red: 255, green: 255, blue: 255}, "black": {known: true}, "red": {known: true, red: 255},
	"yellow": {known: true, red: 255, green: 255}, "blue": {known: true, blue: 255}, "gray": {known: true, red: 128, green: 128, blue: 128},
	"whitesmoke": {known: true, red: 245, green: 245, blue: 245}, "snow": {known: true, red: 255, green: 250, blue: 250},
	"transparent": {transparent: true},
}

// mostlySolid is the alpha from which on a colour is taken for itself.
const mostlySolid = 0.5

// readColour reads the colours that mails are written with. Whatever else there is, pictures included, is an unknown colour.
func readColour(value string) colour {
	if c, named := namedColours[value]; named {
		return c
	}
	if digits, isHex := strings.CutPrefix(value, "#"); isHex {
		return hexColour(digits)
	}
	arguments, isCall := strings.CutPrefix(strings.TrimPrefix(value, "rgba("), "rgb(")
	if !isCall && !strings.HasPrefix(value, "rgba(") {
		return colour{}
	}
	parts := strings.FieldsFunc(arguments, func(r rune) bool { return r == ',' || r == ' ' || r == ')' || r == '/' })
	if len(parts) < 3 {
		return colour{}
	}
	var c colour
	for i, channel := range []*int{&c.red, &c.green, &c.blue} {
		x, ok := number(parts[i])
		if !ok {
			return colour{}
		}
		*channel = int(min(max(x, 0), 255))
	}
	if len(parts) > 3 {
		alpha, ok := number(parts[3])
		if strings.HasSuffix(parts[3], "%") {
			alpha /= 100
		}
		switch {
		case ok && alpha == 0:
			return colour{transparent: true}
		case ok && alpha < mostlySolid:
			c.translucent = true
		}
	}
	c.known = true
	return c
}

func hexColour(digits string) colour {
	if len(digits) == 3 {
		digits = string([]byte{digits[0], digits[0], digits[1], digits[1], digits[2], digits[2]})
	}
	if len(digits) != 6 {
		return colour{}
	}
	x, err := strconv.ParseUint(digits, 16, 32)
	if err != nil {
		return colour{}
	}
	return colour{known: true, red: int(x >> 16), green: int(x >> 8 & 255), blue: int(x & 255)}
}
