# SPDX-License-Identifier: Apache-2.0
# client.pl URL COUNT: POSTs of 5,000 bytes on a connection that is kept, in chunks.
use strict;
use warnings;
use HTTP::Tiny;

my ($url, $count) = @ARGV;
my $http = HTTP::Tiny->new(keep_alive => 1);
for my $i (0 .. $count - 1) {
	my @parts = ("n" x 2000, "n" x 3000);
	my $answer = $http->post("$url/$i", {content => sub { shift @parts // "" }});
	die $answer->{content} unless $answer->{success};
}
