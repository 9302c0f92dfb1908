"""What a page may hold: elements and attributes that neither run nor fetch anything.

Names are those of the HTML standard, as a parser gives them; they are unique across HTML, SVG and MathML.
"""

from __future__ import annotations

_TEXT = """
html head meta title style link body header nav main footer section article aside h1 h2 h3 h4 h5 h6 hgroup
p div span a img figure figcaption ul ol li dl dt dd table caption colgroup col thead tbody tfoot tr th td
b i em strong small s u sub sup code pre kbd samp var q cite dfn abbr data time mark del ins blockquote
address br hr wbr bdi bdo ruby rt rp details summary center font big tt
"""
_DRAWINGS = """
svg g path rect circle ellipse line polyline polygon text tspan textPath desc defs use image symbol marker
linearGradient radialGradient stop clipPath mask pattern switch
"""
_FORMULAS = """
math mrow mi mn mo ms mtext mspace mfrac msup msub msubsup munder mover munderover msqrt mroot mstyle
mpadded mphantom menclose mfenced mtable mtr mtd mmultiscripts mprescripts none semantics annotation
"""
ALLOWED_ELEMENTS = frozenset(f"{_TEXT} {_DRAWINGS} {_FORMULAS}".split())

_OF_TEXT = """
id class lang xml:lang xml:space dir title role tabindex hidden alt width height name content rel target
colspan rowspan scope headers span start value type reversed datetime open align valign border bgcolor
color face size cellpadding cellspacing decoding loading translate abbr media sizes
"""
_OF_DRAWINGS = """
version xmlns xmlns:xlink viewBox preserveAspectRatio d x y x1 y1 x2 y2 dx dy cx cy r rx ry fx fy points
rotate pathLength textLength lengthAdjust startOffset transform transform-origin offset gradientUnits
gradientTransform spreadMethod patternUnits patternContentUnits patternTransform clipPathUnits maskUnits
maskContentUnits markerUnits markerWidth markerHeight refX refY orient opacity visibility display overflow
cursor clip-path clip-rule mask marker-start marker-mid marker-end fill fill-opacity fill-rule stroke
stroke-width stroke-opacity stroke-linecap stroke-linejoin stroke-miterlimit stroke-dasharray
stroke-dashoffset stop-color stop-opacity vector-effect paint-order shape-rendering text-rendering
image-rendering font-family font-size font-style font-weight font-variant font-stretch text-anchor
text-decoration letter-spacing word-spacing dominant-baseline alignment-baseline baseline-shift writing-mode
"""
_OF_FORMULAS = """
displaystyle scriptlevel mathvariant mathsize mathcolor mathbackground stretchy fence separator lspace
rspace form symmetric minsize maxsize largeop movablelimits accent accentunder columnalign rowalign
columnspacing rowspacing columnlines rowlines frame linethickness notation encoding depth voffset
"""
#: Whatever their values are, but for `url(...)`, by which drawings refer to parts of the page and to no more.
ALLOWED_ATTRIBUTES = frozenset(f"{_OF_TEXT} {_OF_DRAWINGS} {_OF_FORMULAS}".split())
