"""Which landmarks of MediaPipe's face mesh lie on which lines of a face.

The numbers are facts of its model: of 468 landmarks, with irises 478.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Final

#: How many landmarks a face has without irises.
FACE: Final = 468

_LINES: Final = """
61 146 91 181 84 17 314 405 321 375 291; 61 185 40 39 37 0 267 269 270 409 291;
78 95 88 178 87 14 317 402 318 324 308; 78 191 80 81 82 13 312 311 310 415 308;
33 7 163 144 145 153 154 155 133; 33 246 161 160 159 158 157 173 133;
46 53 52 65 55; 70 63 105 66 107; 474 475 476 477 474;
263 249 390 373 374 380 381 382 362; 263 466 388 387 386 385 384 398 362;
276 283 282 295 285; 300 293 334 296 336; 469 470 471 472 469;
10 338 297 332 284 251 389 356 454 323 361 288 397 365 379 378 400 377 152 148 176 149 150 136 172 58 132 93
234 127 162 21 54 103 67 109 10
"""
#: Landmarks that are connected where a face is drawn: lips, eyes, eyebrows, irises and the oval of the face.
CONTOURS: Final = tuple(
    pair for line in _LINES.split(";") for pair in pairwise(int(number) for number in line.split())
)


def _numbers(text: str) -> tuple[int, ...]:
    return tuple(int(word) for word in text.split())


#: The landmarks of a face in the order of an eye model's: the eye, then lines around it, further and further
#: out.
LEFT_EYE: Final = _numbers("""
    33 7 163 144 145 153 154 155 133   246 161 160 159 158 157 173
    130 25 110 24 23 22 26 112 243   247 30 29 27 28 56 190
    226 31 228 229 230 231 232 233 244   113 225 224 223 222 221 189
    35 124 46 53 52 65
    143 111 117 118 119 120 121 128 245   156 70 63 105 66 107 55 193
""")
RIGHT_EYE: Final = _numbers("""
    263 249 390 373 374 380 381 382 362   466 388 387 386 385 384 398
    359 255 339 254 253 252 256 341 463   467 260 259 257 258 286 414
    446 261 448 449 450 451 452 453 464   342 445 444 443 442 441 413
    265 353 276 283 282 295
    372 340 346 347 348 349 350 357 465   383 300 293 334 296 336 285 417
""")
