import { describe, expect, it } from "vitest";
import { Signals } from "../../../../src/adapter/keys/signals.ts";
import { growth, MAX_GROWTH } from "../../../support/timing/growth.ts";

const bytes = (text: string): Uint8Array => Buffer.from(text);
const alertsIn = (...pieces: readonly string[]): readonly (string | undefined)[] => {
  const signals = new Signals();
  return pieces.map((piece) => signals.feed(bytes(piece), 0).alert);
};

describe("signals of a program", () => {
  it.each([
    ["a bell", "text\x07more", ""],
    ["OSC 9, ended by a bell", "\x1b]9;tests are green\x07", "tests are green"],
    ["OSC 9, ended by ST, in UTF-8", "\x1b]9;fertig – ✓\x1b\\", "fertig – ✓"],
    ["OSC 9 that begins with a number", "\x1b]9;3 tests failed\x07", "3 tests failed"],
    ["OSC 777", "\x1b]777;notify;Aider;waits; for you\x07", "Aider: waits; for you"],
    ["OSC 9, wrapped for tmux", "\x1bPtmux;\x1b\x1b]9;done\x07\x1b\\", "done"],
    ["OSC 9 by ST, wrapped for tmux", "\x1bPtmux;\x1b\x1b]9;done\x1b\x1b\\\x1b\\", "done"],
    ["a bell, wrapped for tmux", "\x1bPtmux;\x07\x1b\\", ""],
    ["a notification among bells", "\x07\x1b]9;done\x07\x07", "done"],
    ["a bell inside a sequence", "\x1b[1\x07m", ""],
    ["a bell after a character set", "\x1b(B\x07", ""],
  ])("finds %s, even byte by byte", (_, output, alert) => {
    expect(alertsIn(output)).toEqual([alert]);
    const found = alertsIn(...[...Buffer.from(output)].map((byte) => String.fromCharCode(byte))).filter(
      (one) => one !== undefined,
    );
    if (/^[\x00-\x7f]*$/.test(output)) expect(found).toContain(alert);
  });

  it.each([
    ["a title, ended by a bell", "\x1b]0;a title\x07"],
    ["progress", "\x1b]9;4;1;50\x07\x1b]9;4;0\x07"],
    ["a directory", "\x1b]9;9;/tmp\x07"],
    ["a picture that contains a bell", "\x1bPq#0\x07~\x1b\\"],
    ["another command of OSC 777", "\x1b]777;precmd\x07"],
    ["a string that is cut off by another sequence", "\x1b]9;half\x1b[0m text"],
    ["a string that is cancelled", "\x1b]9;half\x18 text"],
  ])("does not take %s for an alert", (_, output) => {
    expect(alertsIn(output)).toEqual([undefined]);
  });

  it.each([
    ["plain", (text: string) => `\x1b]9;${text}\x07`],
    ["wrapped for tmux", (text: string) => `\x1bPtmux;\x1b\x1b]9;${text}\x07\x1b\\`],
  ])("reports the first part of a very long notification, %s", (_, wrap) => {
    const [alert = ""] = alertsIn(wrap("–x".repeat(5_000)));
    expect(alert).toMatch(/^(?:–x)+–?$/);
    expect(Buffer.byteLength(alert)).toBeGreaterThan(4_000);
  });

  it("reports a bell again 5 s after the start of a string that never ends", () => {
    const signals = new Signals();
    expect(signals.feed(bytes("\x1b_never ended"), 0).alert).toBeUndefined();
    expect(signals.feed(bytes("\x07"), 4_000).alert).toBeUndefined();
    expect(signals.feed(bytes("\x07"), 6_000).alert).toBe("");
  });

  it("reports a notification once, whatever control characters later sequences contain", () => {
    expect(alertsIn("\x1b]9;done\x07", "\x1b\r\x1b\n", "\x1b[9;\nm", "\x07")).toEqual([
      "done",
      undefined,
      undefined,
      "",
    ]);
  });

  it("knows whether the program supports bracketed paste", () => {
    const signals = new Signals();
    expect(signals.feed(bytes("\x1b[?1;2004h"), 0).bracketedPaste).toBe(true);
    expect(signals.feed(bytes("text"), 0).bracketedPaste).toBeUndefined();
    expect(signals.feed(bytes("\x1b[?2004l"), 0).bracketedPaste).toBe(false);
  });

  it("reads hostile bytes in linear time", () => {
    let state = 1;
    const noise = Buffer.from(
      Array.from({ length: 1 << 20 }, () => {
        state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
        return state >> 16;
      }),
    );
    const fed = (pieces: readonly Uint8Array[]): Signals => {
      const signals = new Signals();
      for (const [i, piece] of pieces.entries()) signals.feed(piece, i);
      return signals;
    };
    const inOne = (size: number) => [noise.subarray(0, size)];
    expect(growth(noise.length / 8, inOne, fed)).toBeLessThan(MAX_GROWTH);
    const inMany = (size: number) =>
      Array.from({ length: size }, (_, i) => noise.subarray(64 * i, 64 * i + 64));
    expect(growth(noise.length / 64 / 8, inMany, fed)).toBeLessThan(MAX_GROWTH);
    expect(fed([noise]).feed(bytes("\x18\x07"), 1_000_000).alert).toBe("");
  });
});
