import { describe, expect, test } from "vitest";
import { decidePermission } from "../../../../src/agent/permissions/decide.ts";
import {
  hostIn,
  hostMatches,
  isPrivateHost,
  plainHost,
} from "../../../../src/agent/permissions/host-rules.ts";
import { NO_RULES, type PermissionRules } from "../../../../src/agent/permissions/rules.ts";
import { mayConnect } from "../../../../src/agent/permissions/search-filter.ts";
import { suggestRules } from "../../../../src/agent/permissions/suggest-rules.ts";
import { mayFollow, webAddress } from "../../../../src/agent/tools/web-address.ts";
import { webFetchTool } from "../../../../src/agent/tools/web-fetch.ts";
import { PERMISSION_MODES, type PermissionMode } from "../../../../src/schema/permission-modes.ts";

const accessTo = (host: string) => ({ kind: "host" as const, host });
const given = (host: string, rules: Partial<PermissionRules> = {}, mode: PermissionMode = "default") => ({
  mode,
  tool: "WebFetch",
  access: accessTo(host),
  rules: { ...NO_RULES, ...rules },
  workingDirs: ["/work"],
  resolve: (path: string) => path,
});

test.each<[string, string | undefined]>([
  ["example.org:443", "example.org"],
  ["LOCALHOST.:80", "localhost"],
  ["127.1", "127.0.0.1"],
  ["0x7f.1:80", "127.0.0.1"],
  ["[::1]:80", "::1"],
  ["https://127.1:80/x", "127.0.0.1"],
  ["::1", "::1"],
  ["::1%lo", undefined],
  ["a b", undefined],
])("hostIn › reads %s as %s", (text, host) => expect(hostIn(text)).toBe(host));

describe("rules for hosts", () => {
  test.each<[string, Partial<PermissionRules>, string, string]>([
    ["a host without a rule asks", {}, "example.org", "ask"],
    ["a rule for the host allows it", { allow: ["WebFetch(domain:example.org)"] }, "example.org", "allow"],
    [
      "a rule for a parent domain does not allow it",
      { allow: ["WebFetch(domain:org)"] },
      "example.org",
      "ask",
    ],
    [
      "a rule for the domain does not allow a subdomain",
      { allow: ["WebFetch(domain:example.org)"] },
      "a.example.org",
      "ask",
    ],
    [
      "a star rule allows a subdomain",
      { allow: ["WebFetch(domain:*.example.org)"] },
      "a.example.org",
      "allow",
    ],
    [
      "a star rule does not allow another domain with the same ending",
      { allow: ["WebFetch(domain:*.example.org)"] },
      "badexample.org",
      "ask",
    ],
    [
      "case and a trailing dot do not matter",
      { allow: ["WebFetch(domain:Example.ORG.)"] },
      "example.org",
      "allow",
    ],
    [
      "a pattern that names no host does not allow",
      { allow: ["WebFetch(https://example.org/*)"] },
      "example.org",
      "ask",
    ],
    [
      "a pattern that names no host denies",
      { deny: ["WebFetch(https://example.org/*)"] },
      "example.org",
      "deny",
    ],
    [
      "a deny rule applies to subdomains",
      { allow: ["WebFetch"], deny: ["WebFetch(domain:evil.org)"] },
      "a.evil.org",
      "deny",
    ],
    [
      "a rule in Unicode matches the ASCII form of its host",
      { allow: ["WebFetch(domain:Bücher.example)", "WebFetch(domain:*.bücher.example)"] },
      "xn--bcher-kva.example",
      "allow",
    ],
    [
      "a deny rule in Unicode matches the ASCII form of a subdomain",
      { allow: ["WebFetch"], deny: ["WebFetch(domain:bücher.example)"] },
      "a.xn--bcher-kva.example",
      "deny",
    ],
    ["the tool's name alone allows a public host", { allow: ["WebFetch"] }, "example.org", "allow"],
    ["a star allows a public host", { allow: ["WebFetch(domain:*)"] }, "example.org", "allow"],
    [
      "an ask rule beats an allow rule",
      { allow: ["WebFetch"], ask: ["WebFetch(domain:example.org)"] },
      "example.org",
      "ask",
    ],
    [
      "rules of other tools do not matter",
      { allow: ["Read(domain:example.org)", "Bash"] },
      "example.org",
      "ask",
    ],
    ...["localhost", "127.0.0.1", "10.1.2.3", "169.254.169.254", "::1", "fd00::1"].flatMap(
      (host): [string, Partial<PermissionRules>, string, string][] => [
        ["the tool's name does not allow a private host", { allow: ["WebFetch"] }, host, "ask"],
        ["a star does not allow a private host", { allow: ["WebFetch(domain:*)"] }, host, "ask"],
        ["a rule for a private host allows it", { allow: [`WebFetch(domain:${host})`] }, host, "allow"],
      ],
    ),
  ])("%s: %j, %s", (_, rules, host, behavior) => {
    expect(decidePermission(given(host, rules)).behavior).toBe(behavior);
  });

  test.each<[string, string]>([
    ["example.org", "ask ask ask allow deny ask"],
    ["127.0.0.1", "ask ask ask allow deny ask"],
  ])("host %s without a rule gives in each mode: %s", (host, behaviors) => {
    expect(PERMISSION_MODES.map((mode) => decidePermission(given(host, {}, mode)).behavior).join(" ")).toBe(
      behaviors,
    );
  });

  test("an allow rule applies in plan mode, but not for a coordinator", () => {
    const question = given("example.org", { allow: ["WebFetch"] });
    expect(decidePermission({ ...question, mode: "plan" }).behavior).toBe("allow");
    expect(decidePermission({ ...question, mode: "delegate", coordinator: true }).behavior).toBe("deny");
  });

  test("the answer “always” suggests a rule for this host only", () => {
    for (const host of ["example.org", "10.0.0.1"]) {
      const [rule = ""] = suggestRules(given(host));
      expect(rule).toBe(`WebFetch(domain:${host})`);
      expect(decidePermission(given(host, { allow: [rule] })).behavior).toBe("allow");
    }
  });
});

describe("mayConnect checks the address that a host resolves to", () => {
  test.each<[string, ReturnType<typeof given>, string, boolean]>([
    ["reaches a public address", given("example.org"), "93.184.216.34", true],
    [
      "does not reach a private address, even if the host is allowed",
      given("example.org", { allow: ["WebFetch", "WebFetch(domain:example.org)"] }),
      "10.0.0.1",
      false,
    ],
    [
      "does not reach the credentials server of a cloud",
      given("example.org", { allow: ["WebFetch(domain:*)"] }),
      "169.254.169.254",
      false,
    ],
    [
      "reaches a private address with an allow rule for it",
      given("example.org", { allow: ["WebFetch(domain:10.0.0.1)"] }),
      "10.0.0.1",
      true,
    ],
    ["reaches a private address of a host that is private by name", given("localhost"), "127.0.0.1", true],
    [
      "reaches a private address in bypassPermissions",
      given("example.org", {}, "bypassPermissions"),
      "10.0.0.1",
      true,
    ],
    [
      "does not reach a denied address in bypassPermissions",
      given("example.org", { deny: ["WebFetch(domain:10.0.0.1)"] }, "bypassPermissions"),
      "10.0.0.1",
      false,
    ],
    [
      "does not reach a public address with a deny rule",
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
])("isPrivateHost: %s gives %s", (host, isPrivate) => {
  expect(isPrivateHost(host)).toBe(isPrivate);
});

// A browser accepts many spellings of an address; rules are checked against the normalised one.
test.each([
  ["http://2130706433/", "127.0.0.1"],
  ["http://0x7f.1/", "127.0.0.1"],
  ["http://127.1/", "127.0.0.1"],
  ["http://[::FFFF:127.0.0.1]/", "::ffff:7f00:1"],
  ["http://LOCALHOST./", "localhost"],
  ["https://Exämple.org/", "xn--exmple-cua.org"],
])("webFetchTool normalises %s to the host %s", (url, host) => {
  expect(webFetchTool.access({ url }, { cwd: "/", env: {} })).toEqual({ kind: "host", host });
  expect(isPrivateHost(host)).toBe(!host.startsWith("xn--"));
});

describe("web addresses", () => {
  test.each([
    ["http://example.org/a?b#c", "https://example.org/a?b"],
    ["http://example.org:8080/", "http://example.org:8080/"],
    ["http://localhost/", "http://localhost/"],
    ["http://10.0.0.1/", "http://10.0.0.1/"],
    ["https://example.org", "https://example.org/"],
  ])("webAddress turns %s into %s", (text, href) => {
    expect(webAddress(text)?.href).toBe(href);
  });

  test("webAddress accepts a name with non-ASCII letters even after many addresses", () => {
    for (let i = 0; i < 100_000; i += 1) webAddress(`https://example.org/${i % 9}`);
    expect(webAddress("https://Exämple.org/")?.host).toBe("xn--exmple-cua.org");
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
  ])("webAddress and the tool's input reject %j", (url) => {
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
  ])("mayFollow: a redirect from %s to %s gives %s", (from, to, followed) => {
    expect(mayFollow(new URL(from), new URL(to))).toBe(followed);
  });
});

test("hostMatches: a star in an allow rule matches public hosts only, and in a deny rule every host", () => {
  expect(hostMatches("domain:*", plainHost("[::1]"), "every")).toBe(false);
  expect(hostMatches("domain:*", "::1", "any")).toBe(true);
});

test.each(["https://example.org", "example.org:443", "*example.org", "exa*.org", ""])(
  "hostMatches › covers every host by the pattern domain:%s of a deny rule, which names none",
  (text) => {
    expect(hostMatches(`domain:${text}`, "other.net", "any")).toBe(true);
    expect(hostMatches(`domain:${text}`, "other.net", "every")).toBe(false);
  },
);

test.each(["example.org", "*.example.org", "my_host", "bücher.example", "10.0.0.1", "::1", "[fe80::1]"])(
  "hostMatches › covers no other host by the pattern domain:%s of a deny rule",
  (text) => expect(hostMatches(`domain:${text}`, "other.net", "any")).toBe(false),
);

test("decidePermission › calls a deny rule malformed if it has another text than a host", () => {
  const reasonOf = (rule: string): string => decidePermission(given("a.org", { deny: [rule] })).reason;
  expect(reasonOf("WebFetch(domain:https://b.org)")).toContain("The rule is malformed");
  expect(reasonOf("WebFetch(domain:a.org)")).not.toContain("malformed");
});
