/** Kinds of frames, by RFC 6455, section 5.2. */
export const OPCODES = { continuation: 0, text: 1, close: 8, ping: 9, pong: 10 } as const;

export interface Frame {
  readonly opcode: number;
  readonly isFinal: boolean;
  readonly payload: Buffer;
}

/** Returns the bytes of a whole message. @param mask four random bytes: a client must mask its frames */
export function frameOf(opcode: number, payload: Buffer, mask: Buffer | undefined): Buffer {
  const { length } = payload;
  const extra = length < 126 ? 0 : length < 65_536 ? 2 : 8;
  const head = Buffer.alloc(2 + extra);
  head[0] = 0x80 | opcode;
  head[1] = (mask === undefined ? 0 : 0x80) | (extra === 0 ? length : extra === 2 ? 126 : 127);
  if (extra === 2) head.writeUInt16BE(length, 2);
  if (extra === 8) head.writeBigUInt64BE(BigInt(length), 2);
  return mask === undefined
    ? Buffer.concat([head, payload])
    : Buffer.concat([head, mask, masked(payload, mask)]);
}

/** Cuts a stream of bytes into frames, however the bytes are split. */
export class FrameReader {
  readonly #maxBytes: number;
  #chunks: Buffer[] = [];
  #size = 0;
  /** Bytes that the next frame needs at least: a long frame is joined once, not for each chunk. */
  #needed = 2;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** @throws Error for a frame that is too long */
  *read(bytes: Buffer): Generator<Frame> {
    this.#chunks.push(bytes);
    this.#size += bytes.length;
    while (this.#size >= this.#needed) {
      const all = this.#chunks.length === 1 ? bytesOf(this.#chunks) : Buffer.concat(this.#chunks);
      const { frame, end } = this.#parse(all);
      this.#chunks = [frame === undefined ? all : all.subarray(end)];
      this.#size = this.#chunks[0]?.length ?? 0;
      this.#needed = frame === undefined ? end : 2;
      if (frame !== undefined) yield frame;
    }
  }

  /** @returns a frame with its end; without a frame, how many bytes it needs */
  #parse(bytes: Buffer): { readonly frame?: Frame; readonly end: number } {
    const [first = 0, second = 0] = bytes;
    const short = second & 0x7f;
    const extra = short === 126 ? 2 : short === 127 ? 8 : 0;
    const isMasked = (second & 0x80) !== 0;
    const start = 2 + extra + (isMasked ? 4 : 0);
    if (bytes.length < start) return { end: start };
    const length =
      extra === 0 ? short : extra === 2 ? bytes.readUInt16BE(2) : Number(bytes.readBigUInt64BE(2));
    if (length > this.#maxBytes) throw new Error(`a frame of ${length} bytes is too long`);
    const end = start + length;
    if (bytes.length < end) return { end };
    const raw = bytes.subarray(start, end);
    const payload = isMasked ? masked(raw, bytes.subarray(start - 4, start)) : raw;
    return { frame: { opcode: first & 0x0f, isFinal: (first & 0x80) !== 0, payload }, end };
  }
}

function bytesOf([first]: readonly Buffer[]): Buffer {
  return first ?? Buffer.alloc(0);
}

function masked(bytes: Buffer, mask: Buffer): Buffer {
  const result = Buffer.from(bytes);
  for (let index = 0; index < result.length; index += 1) {
    result[index] = (result[index] ?? 0) ^ (mask[index % 4] ?? 0);
  }
  return result;
}
