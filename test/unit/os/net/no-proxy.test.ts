import { describe, expect, test } from "vitest";
import { isExcepted } from "../../../../src/os/net/no-proxy.ts";

const excepted = (host: string, list: string): boolean => isExcepted(new URL(`https://${host}/x`), list);

describe("isExcepted", () => {
  test.each([
    ["example.org", "example.org"],
    ["www.example.org", "example.org"],
    ["a.b.example.org", ".example.org"],
    ["example.org", ".example.org"],
    ["www.example.org", "*.example.org"],
    ["EXAMPLE.org", "Example.ORG"],
    ["example.org.", "example.org"],
    ["example.org", "example.org."],
    ["bücher.example", "bücher.example"],
    ["example.org", "other.net, example.org"],
    ["example.org", "other.net example.org"],
    ["example.org", "*"],
    ["10.1.2.3", "10.1.2.3"],
    ["10.1.2.3", "10.0.0.0/8"],
    ["10.1.2.3", "10.9.9.9/8"],
    ["10.1.2.3", "0.0.0.0/0"],
    ["[2001:db8::1]", "2001:db8::1"],
    ["[2001:db8::1]", "[2001:db8::1]"],
    ["[2001:db8:0:0::1]", "2001:db8::/32"],
    ["[2001:db8::1]", "[2001:db8::]/32"],
    ["example.org:8443", "example.org:8443"],
    ["example.org", "example.org:443"],
    ["10.1.2.3:8443", "10.1.2.3:8443"],
    ["[2001:db8::1]:8443", "[2001:db8::1]:8443"],
  ])("excludes %s from the proxy for the list %s", (host, list) => {
    expect(excepted(host, list)).toBe(true);
  });

  test.each([
    ["notexample.org", "example.org"],
    ["example.org", "www.example.org"],
    ["example.org.evil.net", "example.org"],
    ["example.org", ""],
    ["example.org", ".,,"],
    ["1.2.3.4", "3.4"],
    ["11.1.2.3", "10.0.0.0/8"],
    ["10.1.2.3", "10.0.0.0/33"],
    ["10.1.2.3", "10.0.0.0/x"],
    ["10.1.2.3", "10.0.0.0/"],
    ["[2001:db9::1]", "2001:db8::/32"],
    ["example.org", "example.org:8443"],
    ["example.org:8443", "example.org:443"],
    ["10.example.org", "10.0.0.0/8"],
  ])("leaves %s to the proxy for the list %s", (host, list) => {
    expect(excepted(host, list)).toBe(false);
  });
});
