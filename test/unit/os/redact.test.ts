import { describe, expect, it } from "vitest";
import { maskStream, maskText, maskValue, secretsOf } from "../../../src/os/redact.ts";

const KEY = "hun\"ter<2>&'more";
const PEM = "-----BEGIN KEY-----\n  pem1pem1pem1\n\tpem2 pem2  pem2\nshort\n";
const secrets = secretsOf({
  API_KEY: KEY,
  signing_Secret: PEM,
  DB_PASSWORD: "sesame-77",
  HOME: "/home/somebody",
});
const inXml = (text: string): string =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");

describe("what is masked of an environment", () => {
  it.each([
    ["as it is", KEY],
    ["as JSON has it", JSON.stringify(KEY).slice(1, -1)],
    ["as JSON in JSON has it", JSON.stringify(JSON.stringify(KEY)).slice(3, -3)],
    ["in the text of a tag", KEY.replaceAll("&", "&amp;")],
    ["in an attribute", inXml(KEY)],
    ["of several lines, whole", PEM],
    ["of several lines, on one", PEM.replace(/\s+/g, " ").trim()],
    ["a line of several", "pem1pem1pem1"],
    ["a line of several, with single blanks", "pem2 pem2 pem2"],
  ])("is a value %s", (_, form) => {
    expect(maskText(`it is ${form}.`, secrets)).toMatch(/^it is (\[secret\]\s*)+\.$/);
  });

  it("is no short value or line, and none of a variable of another name", () => {
    expect(
      secretsOf({ A_KEY: "1234567", KEYS: "12345678", TOKEN_FILE: "/run/token", EMPTY_KEY: undefined }),
    ).toEqual([]);
    expect(maskText("short, /home/somebody", secrets)).toBe("short, /home/somebody");
  });

  it("is the longer of two that begin alike", () => {
    const two = secretsOf({ A_TOKEN: "sesame-77", B_TOKEN: "sesame-77-and-more" });
    expect(maskText("sesame-77-and-more sesame-77", two)).toBe("[secret] [secret]");
  });

  it("is masked in keys and values of any depth, and nothing else of them changes", () => {
    const value = { "of sesame-77": [{ a: "sesame-77", n: 7, none: null, yes: true }] };
    expect(maskValue(value, secrets)).toEqual({
      "of [secret]": [{ a: "[secret]", n: 7, none: null, yes: true }],
    });
  });
});

describe("a text that comes in pieces", () => {
  it("is masked wherever it is cut, and what is sure is not held back", () => {
    const text = "say sesame-77, ses, sesame-7 and sesame-77";
    for (let at = 0; at <= text.length; at += 1) {
      const stream = maskStream(["sesame-77"]);
      const out = stream.push(text.slice(0, at)) + stream.push(text.slice(at)) + stream.end();
      expect(out).toBe("say [secret], ses, sesame-7 and [secret]");
    }
    const stream = maskStream(["sesame-77"]);
    expect([stream.push("plain se"), stream.push("e"), stream.end(), stream.end()]).toEqual([
      "plain ",
      "see",
      "",
      "",
    ]);
  });
});
