// @ts-check
/**
 * TurboSHAKE128 (RFC 9861), and the XOF of draft-irtf-cfrg-vdaf (6.2.1) that is made of it. Lanes of 64 bits are two
 * numbers of 32, the low one first.
 */

const RATE = 168;

// prettier-ignore
const ROUNDS = [
  [0x8000808b, 0], [0x8b, 0x80000000], [0x8089, 0x80000000], [0x8003, 0x80000000], [0x8002, 0x80000000],
  [0x80, 0x80000000], [0x800a, 0], [0x8000000a, 0x80000000], [0x80008081, 0x80000000], [0x8080, 0x80000000],
  [0x80000001, 0], [0x80008008, 0x80000000],
];

/** For each lane: where it goes, and by how much it is turned on the way (the steps rho and pi). */
const MOVES = (() => {
  const moves = [{ from: 0, to: 0, by: 0 }];
  let [x, y] = [1, 0];
  for (let t = 0; t < 24; t++) {
    const from = x + 5 * y;
    [x, y] = [y, (2 * x + 3 * y) % 5];
    moves.push({ from, to: x + 5 * y, by: (((t + 1) * (t + 2)) / 2) % 64 });
  }
  return moves;
})();

const turned = new Int32Array(50);
const column = new Int32Array(10);

/** @param {Int32Array} a */
function permute(a) {
  for (const [low, high] of ROUNDS) {
    for (let i = 0; i < 10; i++) column[i] = a[i] ^ a[i + 10] ^ a[i + 20] ^ a[i + 30] ^ a[i + 40];
    for (let x = 0; x < 5; x++) {
      const before = 2 * ((x + 4) % 5);
      const after = 2 * ((x + 1) % 5);
      const d0 = column[before] ^ ((column[after] << 1) | (column[after + 1] >>> 31));
      const d1 = column[before + 1] ^ ((column[after + 1] << 1) | (column[after] >>> 31));
      for (let i = 2 * x; i < 50; i += 10) {
        a[i] ^= d0;
        a[i + 1] ^= d1;
      }
    }
    for (const { from, to, by } of MOVES) {
      const swap = by & 32 ? 1 : 0;
      const [low, high, left] = [a[2 * from + swap], a[2 * from + 1 - swap], by & 31];
      turned[2 * to] = left ? (low << left) | (high >>> (32 - left)) : low;
      turned[2 * to + 1] = left ? (high << left) | (low >>> (32 - left)) : high;
    }
    for (let y = 0; y < 50; y += 10)
      for (let i = 0; i < 10; i++) a[y + i] = turned[y + i] ^ (~turned[y + ((i + 2) % 10)] & turned[y + ((i + 4) % 10)]);
    a[0] ^= low;
    a[1] ^= high;
  }
}

/** A stream of bytes from a seed, a domain separation tag and a binder, given in parts. */
export class Xof {
  state = new Int32Array(50);
  bytes = new Uint8Array(this.state.buffer);
  at = 0;

  /** @param {Uint8Array} seed @param {Uint8Array} dst @param {Uint8Array[]} binder */
  constructor(seed, dst, binder) {
    for (const part of [Uint8Array.of(dst.length & 255, dst.length >> 8), dst, Uint8Array.of(seed.length), seed, ...binder])
      this.absorb(part);
    this.bytes[this.at] ^= 1; // the domain byte of the draft
    this.bytes[RATE - 1] ^= 0x80;
    permute(this.state);
    this.at = 0;
  }

  /** @param {Uint8Array} part */
  absorb(part) {
    for (const byte of part) {
      this.bytes[this.at++] ^= byte;
      if (this.at === RATE) {
        permute(this.state);
        this.at = 0;
      }
    }
  }

  /** @param {number} n */
  next(n) {
    const out = new Uint8Array(n);
    for (let i = 0; i < n; i++) {
      if (this.at === RATE) {
        permute(this.state);
        this.at = 0;
      }
      out[i] = this.bytes[this.at++];
    }
    return out;
  }
}
