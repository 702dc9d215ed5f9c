import { describe, expect, test } from "vitest";
import { decidePermission } from "../../../../src/agent/permissions/decide.ts";
import { hostMatches, isPrivateHost, plainHost } from "../../../../src/agent/permissions/host-rules.ts";
import { NO_RULES, type PermissionRules } from "../../../../src/agent/permissions/rules.ts";
import { mayConnect } from "../../../../src/agent/permissions/search-filter.ts";
import { suggestRules } from "../../../../src/agent/permissions/suggest-rules.ts";
import { isSamePlace, webAddress } from "../../../../src/agent/tools/web-address.ts";
import { webFetchTool } from "../../../../src/agent/tools/web-fetch.ts";
import { PERMISSION_MODES, type PermissionMode } from "../../../../src/schema/permission-modes.ts";

const accessTo = (host: string) => ({ kind: "host" as const, host });
const given = (host: string, rules: Partial<PermissionRules> = {}, mode: PermissionMode = "default") => ({
  mode,
  tool: "WebFetch",
  access: accessTo(host),
  rules: { ...NO_RULES, ...rules },
  workingDirs: ["/work"],
});

describe("a host in the rules", () => {
  test.each<[string, Partial<PermissionRules>, string, string]>([
    ["no rule asks", {}, "example.org", "ask"],
    ["its own rule allows", { allow: ["WebFetch(domain:example.org)"] }, "example.org", "allow"],
    ["the rule of a host above does not allow", { allow: ["WebFetch(domain:org)"] }, "example.org", "ask"],
    ["not one below it either", { allow: ["WebFetch(domain:example.org)"] }, "a.example.org", "ask"],
    ["but a star does", { allow: ["WebFetch(domain:*.example.org)"] }, "a.example.org", "allow"],
    [
      "not for another that ends alike",
      { allow: ["WebFetch(domain:*.example.org)"] },
      "badexample.org",
      "ask",
    ],
    [
      "case and a dot at the end are nothing",
      { allow: ["WebFetch(domain:Example.ORG.)"] },
      "example.org",
      "allow",
    ],
    [
      "a pattern about no host allows nothing",
      { allow: ["WebFetch(https://example.org/*)"] },
      "example.org",
      "ask",
    ],
    ["but refuses", { deny: ["WebFetch(https://example.org/*)"] }, "example.org", "deny"],
    [
      "a refusal holds for what is below",
      { allow: ["WebFetch"], deny: ["WebFetch(domain:evil.org)"] },
      "a.evil.org",
      "deny",
    ],
    [
      "one in other letters than ASCII is the host that it becomes",
      { allow: ["WebFetch(domain:Bücher.example)", "WebFetch(domain:*.bücher.example)"] },
      "xn--bcher-kva.example",
      "allow",
    ],
    [
      "also where it refuses",
      { allow: ["WebFetch"], deny: ["WebFetch(domain:bücher.example)"] },
      "a.xn--bcher-kva.example",
      "deny",
    ],
    ["the tool's name allows the public network", { allow: ["WebFetch"] }, "example.org", "allow"],
    ["so does a star", { allow: ["WebFetch(domain:*)"] }, "example.org", "allow"],
    [
      "an ask rule asks before it",
      { allow: ["WebFetch"], ask: ["WebFetch(domain:example.org)"] },
      "example.org",
      "ask",
    ],
    ["another tool's rule is none", { allow: ["Read(domain:example.org)", "Bash"] }, "example.org", "ask"],
    ...["localhost", "127.0.0.1", "10.1.2.3", "169.254.169.254", "::1", "fd00::1"].flatMap(
      (host): [string, Partial<PermissionRules>, string, string][] => [
        ["its name does not allow what is private", { allow: ["WebFetch"] }, host, "ask"],
        ["nor does the star", { allow: ["WebFetch(domain:*)"] }, host, "ask"],
        ["its own rule does", { allow: [`WebFetch(domain:${host})`] }, host, "allow"],
      ],
    ),
  ])("%s: %j, %s", (_, rules, host, behavior) => {
    expect(decidePermission(given(host, rules)).behavior).toBe(behavior);
  });

  test.each<[string, string]>([
    ["example.org", "ask ask ask allow deny ask"],
    ["127.0.0.1", "ask ask ask allow deny ask"],
  ])("%s in each mode without a rule: %s", (host, behaviors) => {
    expect(PERMISSION_MODES.map((mode) => decidePermission(given(host, {}, mode)).behavior).join(" ")).toBe(
      behaviors,
    );
  });

  test("is read in plan mode where a rule allows it, and by a coordinator never", () => {
    const question = given("example.org", { allow: ["WebFetch"] });
    expect(decidePermission({ ...question, mode: "plan" }).behavior).toBe("allow");
    expect(decidePermission({ ...question, mode: "delegate", coordinator: true }).behavior).toBe("deny");
  });

  test("gets a rule for itself alone by an “always”", () => {
    for (const host of ["example.org", "10.0.0.1"]) {
      const [rule = ""] = suggestRules(given(host));
      expect(rule).toBe(`WebFetch(domain:${host})`);
      expect(decidePermission(given(host, { allow: [rule] })).behavior).toBe("allow");
    }
  });
});

describe("an address that a name leads to", () => {
  test.each<[string, ReturnType<typeof given>, string, boolean]>([
    ["a public one is reached", given("example.org"), "93.184.216.34", true],
    [
      "a private one is not, whatever allows the name",
      given("example.org", { allow: ["WebFetch", "WebFetch(domain:example.org)"] }),
      "10.0.0.1",
      false,
    ],
    [
      "nor the server of a cloud's credentials",
      given("example.org", { allow: ["WebFetch(domain:*)"] }),
      "169.254.169.254",
      false,
    ],
    ["a rule for it does", given("example.org", { allow: ["WebFetch(domain:10.0.0.1)"] }), "10.0.0.1", true],
    ["of a host that says itself that it is private it is reached", given("localhost"), "127.0.0.1", true],
    ["in bypassPermissions it is", given("example.org", {}, "bypassPermissions"), "10.0.0.1", true],
    [
      "but not where a rule denies it",
      given("example.org", { deny: ["WebFetch(domain:10.0.0.1)"] }, "bypassPermissions"),
      "10.0.0.1",
      false,
    ],
    [
      "nor a public one that a rule denies",
      given("example.org", { deny: ["WebFetch(domain:93.184.216.34)"] }),
      "93.184.216.34",
      false,
    ],
  ])("%s", (_, question, address, reached) => {
    expect(mayConnect(address, question)).toBe(reached);
  });
});

test.each([
  ["localhost", true],
  ["a.localhost", true],
  ["localhost.example.org", false],
  ["0.0.0.0", true],
  ["8.8.8.8", false],
  ["100.64.0.1", true],
  ["172.32.0.1", false],
  ["192.168.1.1", true],
  ["255.255.255.255", true],
  ["::", true],
  ["::1", true],
  ["::ffff:127.0.0.1", true],
  ["::ffff:8.8.8.8", false],
  ["64:ff9b::7f00:1", true],
  ["fe80::1", true],
  ["fe80::1%eth0", true],
  ["fd12::1", true],
  ["2606:2800:220:1::1", false],
  ["example.org", false],
])("%s is private: %s", (host, isPrivate) => {
  expect(isPrivateHost(host)).toBe(isPrivate);
});

// Every spelling of an address that a browser takes is held against the rules as the one address that it is.
test.each([
  ["http://2130706433/", "127.0.0.1"],
  ["http://0x7f.1/", "127.0.0.1"],
  ["http://127.1/", "127.0.0.1"],
  ["http://[::FFFF:127.0.0.1]/", "::ffff:7f00:1"],
  ["http://LOCALHOST./", "localhost"],
  ["https://Exämple.org/", "xn--exmple-cua.org"],
])("%s is the host %s", (url, host) => {
  expect(webFetchTool.access({ url }, { cwd: "/", env: {} })).toEqual({ kind: "host", host });
  expect(isPrivateHost(host)).toBe(!host.startsWith("xn--"));
});

describe("an address", () => {
  test.each([
    ["http://example.org/a?b#c", "https://example.org/a?b"],
    ["http://example.org:8080/", "http://example.org:8080/"],
    ["http://localhost/", "http://localhost/"],
    ["http://10.0.0.1/", "http://10.0.0.1/"],
    ["https://example.org", "https://example.org/"],
  ])("%s is fetched as %s", (text, href) => {
    expect(webAddress(text)?.href).toBe(href);
  });

  test.each([
    "file:///etc/passwd",
    "ftp://example.org/",
    "javascript:alert(1)",
    "example.org",
    "/etc/passwd",
    "https://ada:secret@example.org/",
    "https://example.org@evil.org/",
    "",
  ])("%j is none, and the tool's input refuses it", (url) => {
    expect(webAddress(url)).toBeUndefined();
    expect(webFetchTool.input.safeParse({ url }).success).toBe(false);
  });

  test.each([
    ["https://a.org/1", "https://a.org/2", true],
    ["https://a.org/", "https://a.org:8443/", true],
    ["http://a.org:80/", "https://a.org/", true],
    ["https://a.org/", "http://a.org:8080/", false],
    ["https://a.org/", "https://www.a.org/", false],
    ["https://a.org/", "https://a.org.evil.org/", false],
  ])("a redirection from %s to %s is followed: %s", (from, to, followed) => {
    expect(isSamePlace(new URL(from), new URL(to))).toBe(followed);
  });
});

test("a pattern of a star is about the public network alone", () => {
  expect(hostMatches("domain:*", plainHost("[::1]"), "every")).toBe(false);
  expect(hostMatches("domain:*", "::1", "any")).toBe(true);
});
