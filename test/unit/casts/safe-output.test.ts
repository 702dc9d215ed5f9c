import { describe, expect, it } from "vitest";
import { outputFilter, RESET_OUTPUT } from "../../../src/casts/safe-output.ts";

const filtered = (text: string): string => outputFilter().push(text);

describe("outputFilter", () => {
  it.each([
    ["text and control characters", "a\tb\r\nc\b ü 漢 👍"],
    ["colours", "\x1b[1;38;5;33mx\x1b[38:2::1:2:3my\x1b[0m"],
    ["cursor moves and erasing", "\x1b[2A\x1b[10;20H\x1b[K\x1b[2J\x1b[J\x1b[3X\x1b[2P\x1b[4@\x1b[5d\x1b[G"],
    ["scrolling", "\x1b[2;10r\x1b[3S\x1b[2T\x1bM\x1bD\x1bE"],
    ["the alternate screen", "\x1b[?1049h\x1b[?1049l"],
    ["the cursor", "\x1b[?25l\x1b[?25h\x1b7\x1b8\x1b[s\x1b[u\x1b[4 q"],
    ["line drawing", "\x1b(0lqk\x1b(B\x0ex\x0f"],
    ["repetition", "-\x1b[9b"],
    ["a link to a page", "\x1b]8;;https://example.org/a?b=c\x1b\\page\x1b]8;;\x1b\\"],
    ["synchronized output", "\x1b[?2026hx\x1b[?2026l"],
  ])("keeps %s", (_, text) => {
    expect(filtered(text)).toBe(text);
  });

  it.each([
    ["the clipboard", "\x1b]52;c;ZXZpbA==\x07"],
    ["a request for the clipboard", "\x1b]52;c;?\x1b\\"],
    ["titles", "\x1b]0;t\x07\x1b]2;t\x1b\\\x1bkt\x1b\\"],
    ["colours of the palette and their request", "\x1b]4;1;?\x07\x1b]10;?\x07\x1b]11;?\x1b\\\x1b]104\x07"],
    [
      "directories, notifications and files",
      "\x1b]7;file://x/\x07\x1b]9;hi\x07\x1b]777;notify;a;b\x07\x1b]1337;File=x:AA\x07",
    ],
    ["device attributes", "\x1b[c\x1b[0c\x1b[>c\x1b[=c\x1bZ"],
    ["device status", "\x1b[5n\x1b[6n\x1b[?6n\x1b[?996n"],
    ["XTVERSION and DECRQM", "\x1b[>q\x1b[>0q\x1b[?2026$p\x1b[4$p"],
    ["DECRQSS, XTGETTCAP and passthrough", "\x1bP$qm\x1b\\\x1bP+q544e\x1b\\\x1bPtmux;\x1b\x1b[c\x1b\\"],
    ["window operations and reports", "\x1b[21t\x1b[18t\x1b[8;1;1t\x1b[3;1;1t"],
    ["DECREQTPARM, printing and tests", "\x1b[x\x1b[1x\x1b[5i\x1b[?4i\x1b[2;1y"],
    ["kitty keyboard and modifyOtherKeys", "\x1b[>1u\x1b[?u\x1b[=1u\x1b[<u\x1b[>4;2m\x1b[?4m"],
    ["mouse, focus and paste modes", "\x1b[?1000h\x1b[?1003;1006h\x1b[?1004h\x1b[?2004h\x1b[?1h\x1b="],
    ["132 columns and margins", "\x1b[?3h\x1b[?69h\x1b[2;5s"],
    ["mouse highlighting", "\x1b[1;2;3;4;5T"],
    ["clearing the scrollback", "\x1b[3J\x1b[03J"],
    ["ENQ, BEL and other controls", "\x05\x07\x00\x11\x13\x7f"],
    ["C1 controls", "\x9b6n\x9bc\x90$qm\x9c\x9d52;c;eA\x9c"],
    ["application programs and privacy messages", "\x1b_x\x1b\\\x1b^y\x1b\\\x1bXz\x1b\\"],
    ["changes of direction", "\u202e\u2066"],
    ["a huge repetition", "\x1b[99999b"],
    ["a locked keyboard", "\x1b[2h"],
    ["an overlong sequence", `\x1b[${"1;".repeat(200)}m`],
  ])("drops %s", (_, text) => {
    expect(filtered(`a${text}b`)).toBe("ab");
  });

  it("keeps only the harmless modes of a sequence that sets several", () => {
    expect(filtered("\x1b[?25;1000;1049h")).toBe("\x1b[?25;1049h");
  });

  it("replaces a full reset, and a link to no page", () => {
    expect(filtered("\x1bc")).toContain("\x1b[2J");
    expect(filtered("\x1bc")).not.toContain("\x1bc");
    expect(filtered("\x1b]8;;file:///etc/passwd\x07x")).toBe("\x1b]8;;\x1b\\x");
  });

  it("keeps the text after a cancelled, an interrupted or a nested sequence", () => {
    expect(filtered("\x1b[31\x18m")).toBe("m");
    expect(filtered("\x1b[3\x1b[6nx")).toBe("x");
    expect(filtered("\x1b]2;a\x1b[6nx")).toBe("x");
    expect(filtered("\x1bP\x1b[cx")).toBe("x");
  });

  it("returns the same output wherever the stream is cut", () => {
    const text = "a\x1b[31mb\x1b]52;c;eA\x07c\x1b]8;;https://a.b/\x1b\\d\x1b[6ne\x1bP+q00\x1b\\f\x9b5ng";
    const whole = filtered(text);
    for (let at = 0; at <= text.length; at += 1) {
      const filter = outputFilter();
      expect(filter.push(text.slice(0, at)) + filter.push(text.slice(at))).toBe(whole);
    }
    expect(whole).toBe("a\x1b[31mbc\x1b]8;;https://a.b/\x1b\\defg");
  });

  it("passes its own reset", () => {
    expect(filtered(RESET_OUTPUT)).toBe(RESET_OUTPUT);
  });
});
