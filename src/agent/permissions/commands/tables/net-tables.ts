import type { Table } from "./table.ts";

/** Settings of ssh that name no program, file or other host. */
const SSH_SETTING =
  /^(?:BatchMode|ConnectTimeout|ConnectionAttempts|ServerAliveInterval|ServerAliveCountMax|LogLevel|Compression|StrictHostKeyChecking|RequestTTY|NumberOfPasswordPrompts)[= ][\w-]+$/i;
const SSH = { "-o": SSH_SETTING };
const OPENSSH = "OpenSSH 9.2";
/** curl's formats can write to a file, and read one. */
const FORMAT = /^(?!@)(?!.*%output)/s;
const NOWHERE = /^(?:\/dev\/null|-)$/;

/** Programs that reach other machines. */
export const NET_TABLES: Readonly<Record<string, Table>> = {
  curl: {
    source: "curl 7.88 and 8.11",
    options: `0123456aBfGgIijkLlMNqRSsvZ|ACeFmPQrtuUwXxYyzbo||dH|OcDEKTnhJ anyauth append basic compressed connect-timeout=
      connect-to= continue-at= cookie= create-dirs crlf data== data-ascii== data-binary== data-raw== data-urlencode== digest
      disable fail fail-early fail-with-body form= form-string= get globoff head header== http1.0 http1.1 http2
      http2-prior-knowledge http3 include insecure ipv4 ipv6 json== junk-session-cookies keepalive-time= limit-rate= list-only
      location location-trusted max-filesize= max-redirs= max-time= negotiate next no-buffer no-keepalive no-progress-meter
      noproxy= no-sessionid ntlm oauth2-bearer= output= parallel parallel-max= path-as-is pinnedpubkey= post301 post302 post303
      progress-bar proto= proto-default= proto-redir= proxy= proxy-user= proxytunnel range= rate= raw referer= request=
      request-target= resolve= retry= retry-all-errors retry-connrefused retry-delay= retry-max-time= show-error silent
      speed-limit= speed-time= ssl ssl-reqd tcp-nodelay time-cond= tls-max= tlsv1 tlsv1.0 tlsv1.1 tlsv1.2 tlsv1.3 url=
      url-query= use-ascii user= user-agent= verbose write-out= no-silent no-location no-fail no-verbose`,
    only: { "-o": NOWHERE, "--output": NOWHERE, "-w": FORMAT, "--write-out": FORMAT },
  },
  wget: {
    source: "GNU Wget 1.21",
    options: `bcdqvNSrkKmpLHxE46|tTQwUlARDXnO|||aoiePIB no-verbose quiet verbose debug tries= retry-connrefused no-clobber
      continue progress= show-progress timestamping server-response spider timeout= dns-timeout= connect-timeout= read-timeout=
      wait= waitretry= random-wait no-proxy quota= limit-rate= no-dns-cache inet4-only inet6-only prefer-family= user=
      password= http-user= http-password= no-cache adjust-extension header=
      compression= max-redirect= referer= user-agent= no-http-keep-alive no-cookies post-data= method= body-data=
      content-on-error https-only no-check-certificate no-hsts no-glob recursive level= convert-links mirror page-requisites
      accept= reject= accept-regex= reject-regex= domains= exclude-domains= span-hosts relative exclude-directories= no-parent
      output-document=`,
    only: { "-O": NOWHERE, "--output-document": NOWHERE, "-n": /^[vcp]+$/ },
  },
  ssh: { source: OPENSSH, options: "46aCGknNqsTtVvxy|bcilmpo|||BDEeFIJLOQRSWw", only: SSH, operands: 2 },
  scp: { source: OPENSSH, options: "346BCOpqrRsTv|cilPo|||DFJSX", only: SSH },
  sftp: { source: OPENSSH, options: "46aCfNpqrv|BcilPRo|||bDFJsSX", only: SSH },
};
