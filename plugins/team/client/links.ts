/** Where a server is, and where its links lead. */

const LOCAL = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/;

/** Whether what is sent to this address is encrypted, or stays on this machine. */
export const isPrivate = ({ protocol, hostname }: URL): boolean =>
  protocol === "https:" || (protocol === "http:" && LOCAL.test(hostname));

/**
 * Whether a link leads to the server at `address`. A machine that reaches the server by a name of its own may be sent to the server's public address.
 */
export function leadsTo(link: string, address: string, path: RegExp): boolean {
  if (!URL.canParse(link)) return false;
  const url = new URL(link);
  if (url.username !== "" || url.password !== "" || url.href !== link || !path.test(`${url.pathname}${url.hash}`))
    return false;
  return url.origin === address || (LOCAL.test(new URL(address).hostname) && url.protocol === "https:");
}
