import { describe, expect, it } from "vitest";
import { redactStream, redactText, redactValue, secretsOf } from "../../../src/os/redact.ts";

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

describe("redacting secrets of an environment", () => {
  it.each([
    ["unchanged", KEY],
    ["as JSON", JSON.stringify(KEY).slice(1, -1)],
    ["as JSON within JSON", JSON.stringify(JSON.stringify(KEY)).slice(3, -3)],
    ["in the text of a tag", KEY.replaceAll("&", "&amp;")],
    ["in an attribute", inXml(KEY)],
    ["of several lines", PEM],
    ["of several lines, on one line", PEM.replace(/\s+/g, " ").trim()],
    ["of several lines, one line alone", "pem1pem1pem1"],
    ["of several lines, one line with single spaces", "pem2 pem2 pem2"],
  ])("redactText hides a value %s", (_, form) => {
    expect(redactText(`it is ${form}.`, secrets)).toMatch(/^it is (\[secret\]\s*)+\.$/);
  });

  it("secretsOf ignores short values and variables with other names", () => {
    expect(
      secretsOf({ A_KEY: "1234567", KEYS: "12345678", TOKEN_FILE: "/run/token", EMPTY_KEY: undefined }),
    ).toEqual([]);
    expect(redactText("short, /home/somebody", secrets)).toBe("short, /home/somebody");
  });

  it("secretsOf finds the values of custom headers, with and without their scheme", () => {
    const ANTHROPIC_CUSTOM_HEADERS = "X-Auth: Bearer sesame-sesame\nX-Stage: production\nX-Id: ab12cd34ef";
    const hidden = secretsOf({ ANTHROPIC_CUSTOM_HEADERS });
    expect(redactText("sesame-sesame, ab12cd34ef, production", hidden)).toBe(
      "[secret], [secret], production",
    );
    expect(redactText(ANTHROPIC_CUSTOM_HEADERS, hidden)).toBe("[secret]");
  });

  it.each([
    ["HTTPS_PROXY", "http://ada:hunter%40hunter2@proxy.test:3128"],
    ["https_proxy", "ada:hunter%40hunter2@proxy.test:3128"],
    ["npm_config_proxy", "http://ada:hunter%40hunter2@proxy.test:3128/"],
  ])("secretsOf finds the credentials of %s in every form", (name, url) => {
    const hidden = secretsOf({ [name]: url });
    const header = `Basic ${Buffer.from("ada:hunter@hunter2").toString("base64")}`;
    for (const text of [url, "ada:hunter@hunter2", "hunter%40hunter2", "hunter@hunter2", header])
      expect(redactText(text, hidden)).not.toMatch(/hunter2|YWRh/);
    expect(redactText("http://proxy.test:3128 and ada", hidden)).toBe("http://proxy.test:3128 and ada");
  });

  it("secretsOf finds short credentials and those of a malformed URL", () => {
    const redacted = (url: string) => redactText(`it is ${url}`, secretsOf({ ALL_PROXY: url }));
    expect(redacted("http://a:b@proxy.test:3128/")).toBe("it is http://[secret]/");
    expect(redacted("http://ada:hunt#er@2@proxy.test")).toBe("it is http://[secret]");
    expect(redacted("http://proxy.test:3128")).toBe("it is http://proxy.test:3128");
    expect(secretsOf({ NO_PROXY: "localhost,example.org" })).toEqual([]);
  });

  it("redactText hides the longer of two values with the same beginning", () => {
    const two = secretsOf({ A_TOKEN: "sesame-77", B_TOKEN: "sesame-77-and-more" });
    expect(redactText("sesame-77-and-more sesame-77", two)).toBe("[secret] [secret]");
  });

  it("redactValue hides values in keys and values at any depth, and changes nothing else", () => {
    const value = { "of sesame-77": [{ a: "sesame-77", n: 7, none: null, yes: true }] };
    expect(redactValue(value, secrets)).toEqual({
      "of [secret]": [{ a: "[secret]", n: 7, none: null, yes: true }],
    });
  });
});

describe("redactStream", () => {
  it("hides a secret wherever the stream is cut, and returns safe text immediately", () => {
    const text = "say sesame-77, ses, sesame-7 and sesame-77";
    for (let at = 0; at <= text.length; at += 1) {
      const stream = redactStream(["sesame-77"]);
      const out = stream.push(text.slice(0, at)) + stream.push(text.slice(at)) + stream.end();
      expect(out).toBe("say [secret], ses, sesame-7 and [secret]");
    }
    const stream = redactStream(["sesame-77"]);
    expect([stream.push("plain se"), stream.push("e"), stream.end(), stream.end()]).toEqual([
      "plain ",
      "see",
      "",
      "",
    ]);
  });
});
