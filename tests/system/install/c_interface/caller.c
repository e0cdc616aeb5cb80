/* A program in C99 with nothing but the installed header and libcoordkit_c.so: what is wrong is a status with a sentence.
   There is no cluster, so it ends when the remote has not become ready in time. */
#include <coordkit/c/coordkit_remote.h>
#include <stdio.h>
#include <string.h>

static int failed(const char* what, const coordkit_error* error) {
  fprintf(stderr, "%s: %d %s: %s\n", what, (int)error->status, error->reason_name, error->sentence);
  return 1;
}

int main(void) {
  coordkit_remote* remote = NULL;
  coordkit_session* session = NULL;
  coordkit_link* link = NULL;
  coordkit_error error;
  coordkit_bytes gateway = {"127.0.0.1:1", 11};
  coordkit_remote_options options;
  memset(&options, 0, sizeof options);
  options.struct_size = sizeof options;
  if (coordkit_remote_open(&options, &remote, &error) != COORDKIT_INVALID_ARGUMENT) return failed("no options", &error);
  if (strstr(error.sentence, "gateways") == NULL || strlen(error.sentence) != error.sentence_size) return failed("no sentence", &error);

  options.cluster.data = "c";
  options.cluster.size = 1;
  options.gateways = &gateway;
  options.gateways_count = 1;
  options.plain_text = 1;
  if (coordkit_remote_open(&options, &remote, &error) != COORDKIT_OK) return failed("open", &error);
  if (coordkit_remote_wait_ready(remote, 100, &error) != COORDKIT_DEADLINE_EXCEEDED) return failed("ready", &error);
  if (coordkit_remote_link(remote, &link, &error) != COORDKIT_OK) return failed("link", &error);
  if (link->state != COORDKIT_LINK_DIALING || strcmp(link->gateway.data, gateway.data) != 0) return failed("a link to nobody", &error);
  coordkit_link_free(link);
  if (coordkit_session_open(remote, NULL, 100, &session, &error) == COORDKIT_OK) return failed("session", &error);
  if (coordkit_remote_close(remote, &error) != COORDKIT_OK) return failed("close", &error);
  coordkit_remote_free(remote);
  printf("coordkit %s, %s\n", coordkit_version(), error.status == COORDKIT_OK ? "closed" : error.sentence);
  return 0;
}
